package boards

// The profiles. A figure that somebody measured says who; sbc-bench is
// github.com/ThomasKaiser/sbc-bench at 53f7951, whose results name kernel,
// memory, core types and the throughput of tinymembench on one core.
//
// Bandwidth is what the cores of the first cluster read together, as one token
// reads weights and cache. It is at least what one core reads and at most what
// the memory can give; where several cores were not measured, it is an estimate
// between the two. Expect ±30 %.
//
// Reserves are what such a board was seen to miss of its memory (MemTotal)
// plus what a system without desktop uses, rounded up.

const (
	mib = int64(1) << 20
	gib = int64(1) << 30

	megabytes = int64(1e6) // per second, as tinymembench prints them
)

// Sources that several profiles share.
var (
	raspberryPi = Source{[]Figure{FigureCores, FigureRAM}, Vendor,
		"Raspberry Pi documentation, computers, processors and schematics"}
	jetsonSheet = Source{[]Figure{FigureCores, FigureRAM}, Vendor,
		"NVIDIA data sheet of the module"}
	flags = Source{[]Figure{FigureFeatures}, Measured,
		"Flags of the running kernel, in sbc-bench's results of this board"}
	pages4K = Source{[]Figure{FigurePages}, Vendor, "the vendor's kernel has pages of 4 KiB"}
)

func reserveSource(text string) Source {
	return Source{[]Figure{FigureReserve}, Estimate, text}
}

func bandwidth(c Certainty, text string) Source {
	return Source{[]Figure{FigureBandwidth}, c, text}
}

// Features of the cores below.
var (
	armv80     = []string{NEON}
	carmel     = []string{NEON, FP16}
	armv82     = []string{NEON, DotProd, FP16}
	gracemont  = []string{AVX2, FMA, F16C, AVXVNNI}
	fourKiB    = []int{4096}
	sixteenKiB = []int{16384, 4096} // the usual first
)

var profiles = []*Profile{
	{
		Name: "rpi-zero-2w", Title: "Raspberry Pi Zero 2 W",
		Compatibles:  []string{"raspberrypi,model-zero-2-w", "raspberrypi,model-zero-2"},
		Chips:        []string{"brcm,bcm2837"},
		ProductNames: []string{"Raspberry Pi Zero 2 W"},
		Variants:     []Variant{{RAMBytes: 512 * mib, ReserveBytes: 160 * mib}},
		Clusters:     []Cluster{{4, "Cortex-A53", 1000, armv80}},

		ReadBytesPerSecond: 2310 * megabytes,
		PageBytes:          fourKiB,
		Sources: []Source{raspberryPi, pages4K,
			{[]Figure{FigureFeatures}, Vendor, "Arm Cortex-A53: ARMv8.0, nothing beyond NEON"},
			bandwidth(Measured, "one core reads 2312 MB/s: sbc-bench results/3E85.txt"),
			reserveSource("MemTotal 427 MiB, 41 to 102 used: sbc-bench results/3E85.txt")},
	},
	{
		Name: "rpi-3b-plus", Title: "Raspberry Pi 3 Model B+",
		Compatibles:  []string{"raspberrypi,3-model-b-plus"},
		Chips:        []string{"brcm,bcm2837"},
		ProductNames: []string{"Raspberry Pi 3 Model B+", "Raspberry Pi 3 Model B Plus"},
		Variants:     []Variant{{RAMBytes: 1 * gib, ReserveBytes: 192 * mib}},
		Clusters:     []Cluster{{4, "Cortex-A53", 1400, armv80}},

		ReadBytesPerSecond: 2350 * megabytes,
		PageBytes:          fourKiB,
		Sources: []Source{raspberryPi, pages4K,
			{[]Figure{FigureFeatures}, Vendor, "Arm Cortex-A53: ARMv8.0, nothing beyond NEON"},
			bandwidth(Measured, "one core reads 2350 MB/s: sbc-bench results/1isD.txt"),
			reserveSource("MemTotal 927 MiB, 70 used: sbc-bench results/1isD.txt")},
	},
	{
		Name: "rpi-4b", Aliases: []string{"rpi-cm4", "rpi-400"},
		Title: "Raspberry Pi 4 Model B, Compute Module 4, 400",
		Compatibles: []string{"raspberrypi,4-model-b", "raspberrypi,4-compute-module",
			"raspberrypi,4-compute-module-s", "raspberrypi,400"},
		Chips: []string{"brcm,bcm2711"},
		ProductNames: []string{"Raspberry Pi 4 Model B", "Raspberry Pi 400",
			"Raspberry Pi Compute Module 4"},
		Variants: []Variant{
			{RAMBytes: 1 * gib, ReserveBytes: 224 * mib}, {RAMBytes: 2 * gib, ReserveBytes: 256 * mib},
			{RAMBytes: 4 * gib, ReserveBytes: 320 * mib}, {RAMBytes: 8 * gib, ReserveBytes: 448 * mib},
		},
		Clusters: []Cluster{{4, "Cortex-A72", 1800, armv80}},

		ReadBytesPerSecond: 4350 * megabytes,
		PageBytes:          fourKiB,
		Sources: []Source{raspberryPi, flags, pages4K,
			bandwidth(Measured, "one core reads 4331 to 4370 MB/s: sbc-bench results/4pzj.txt; "+
				"STREAM copies 5527 MB/s, reads and writes together: sci-pi.org.uk/bench/stream.html"),
			reserveSource("MemTotal 909 MiB of 1 GiB, 3.8 of 4 and 7.7 of 8 GiB, 50 to 140 MiB used: " +
				"sbc-bench results/3OBF.txt, 1MFf.txt, 3N94.txt")},
	},
	{
		Name: "rpi-5", Aliases: []string{"rpi-5b", "rpi-cm5", "rpi-500"},
		Title: "Raspberry Pi 5, Compute Module 5, 500",
		Compatibles: []string{"raspberrypi,5-model-b", "raspberrypi,5-compute-module",
			"raspberrypi,500"},
		Chips:        []string{"brcm,bcm2712"},
		ProductNames: []string{"Raspberry Pi 5 Model B", "Raspberry Pi Compute Module 5"},
		Variants: []Variant{
			{RAMBytes: 1 * gib, ReserveBytes: 256 * mib}, {RAMBytes: 2 * gib, ReserveBytes: 256 * mib},
			{RAMBytes: 4 * gib, ReserveBytes: 320 * mib}, {RAMBytes: 8 * gib, ReserveBytes: 448 * mib},
			{RAMBytes: 16 * gib, ReserveBytes: 768 * mib},
		},
		Clusters: []Cluster{{4, "Cortex-A76", 2400, armv82}},

		ReadBytesPerSecond: 12000 * megabytes,
		PageBytes:          sixteenKiB,
		Sources: []Source{raspberryPi, flags,
			{[]Figure{FigurePages}, Vendor, "Raspberry Pi OS starts kernel_2712.img, with pages of " +
				"16 KiB; kernel=kernel8.img in config.txt gives 4 KiB"},
			bandwidth(Measured, "one core reads 11858 to 17453 MB/s, by firmware and memory: sbc-bench "+
				"results/4JAv.txt to frdzAn.txt; near the least of them"),
			reserveSource("MemTotal 4.0 of 4, 7.9 of 8 and about 15.8 of 16 GiB, 190 to 580 MiB used: " +
				"sbc-bench results/Au3jaA.txt, 4I1w.txt, 8-NK.txt")},
	},
	{
		Name: "jetson-nano", Title: "NVIDIA Jetson Nano",
		Compatibles: []string{"nvidia,p3450-0000", "nvidia,p3450-0002", "nvidia,jetson-nano",
			"nvidia,jetson-nano-2gb", "nvidia,p3542-0000+p3448-0003",
			"nvidia,p3449-0000-a00+p3448-0000-a00", "nvidia,p3449-0000-b00+p3448-0000-b00",
			"nvidia,p3449-0000-a02+p3448-0000-a02", "nvidia,p3449-0000-b00+p3448-0002-b00"},
		Chips:        []string{"nvidia,tegra210"},
		ProductNames: []string{"NVIDIA Jetson Nano Developer Kit"},
		Variants: []Variant{
			{RAMBytes: 2 * gib, ReserveBytes: 448 * mib}, {RAMBytes: 4 * gib, ReserveBytes: 512 * mib},
		},
		Clusters: []Cluster{{4, "Cortex-A57", 1479, armv80}},

		ReadBytesPerSecond: 9000 * megabytes,
		PageBytes:          fourKiB,
		Sources: []Source{jetsonSheet, flags, pages4K,
			bandwidth(Estimate, "one core reads 4800 and fills 8870 MB/s: sbc-bench results/4rLX.txt; "+
				"the memory gives 25600"),
			reserveSource("MemTotal 3.9 of 4 GiB, 300 MiB used: sbc-bench results/4rLX.txt")},
	},
	{
		// The Denver 2 cores come second: they translate code as it runs, are off
		// in several power modes, and differ in speed from the others, for which a
		// gang of equal shares would wait.
		Name: "jetson-tx2", Title: "NVIDIA Jetson TX2, TX2 NX",
		Compatibles: []string{"nvidia,p2771-0000", "nvidia,p2771-0888", "nvidia,p3489-0000",
			"nvidia,p3509-0000+p3636-0001", "nvidia,lightning", "nvidia,quill", "nvidia,storm"},
		Chips: []string{"nvidia,tegra186"},
		Variants: []Variant{
			{RAMBytes: 4 * gib, ReserveBytes: 640 * mib}, {RAMBytes: 8 * gib, ReserveBytes: 768 * mib},
		},
		Clusters: []Cluster{{4, "Cortex-A57", 2035, armv80}, {2, "Denver 2", 2035, armv80}},

		ReadBytesPerSecond: 20000 * megabytes,
		PageBytes:          fourKiB,
		Sources: []Source{jetsonSheet, pages4K,
			{[]Figure{FigureFeatures}, Vendor, "Arm Cortex-A57 and Denver 2: ARMv8.0, nothing beyond NEON"},
			bandwidth(Estimate, "a third of the 59700 MB/s that 128 bits of LPDDR4 give"),
			reserveSource("by the Jetson Nano's and Xavier NX's")},
	},
	{
		Name: "jetson-xavier-nx", Title: "NVIDIA Jetson Xavier NX",
		Compatibles: []string{"nvidia,p3509-0000+p3668-0000", "nvidia,p3509-0000+p3668-0001",
			"nvidia,p3449-0000+p3668-0000", "nvidia,p3449-0000+p3668-0001",
			"nvidia,p3449-0000+p3668-0003", "nvidia,p3668-0000", "nvidia,p3668-0001"},
		Chips:        []string{"nvidia,tegra194"},
		ProductNames: []string{"NVIDIA Jetson Xavier NX Developer Kit"},
		Variants: []Variant{
			{RAMBytes: 8 * gib, ReserveBytes: 1 * gib}, {RAMBytes: 16 * gib, ReserveBytes: 1280 * mib},
		},
		Clusters: []Cluster{{6, "Carmel", 1907, carmel}},

		ReadBytesPerSecond: 25000 * megabytes,
		PageBytes:          fourKiB,
		Sources: []Source{jetsonSheet, flags, pages4K,
			bandwidth(Estimate, "one core copies 9190 MB/s, which reads and writes as much: sbc-bench "+
				"results/3YWp.txt; the memory gives 59700"),
			reserveSource("MemTotal 7.6 of 8 GiB: sbc-bench results/3YWp.txt; 600 MiB for the system")},
	},
	{
		Name: "jetson-agx-xavier", Title: "NVIDIA Jetson AGX Xavier",
		Compatibles: []string{"nvidia,p2972-0000", "nvidia,p2972-0006", "nvidia,jetson-xavier",
			"nvidia,galen-industrial", "nvidia,jetson-xavier-industrial", "nvidia,galen",
			"nvidia,p2822-0000+p2888-0001"},
		Chips:        []string{"nvidia,tegra194"},
		ProductNames: []string{"Jetson-AGX", "NVIDIA Jetson AGX Xavier Developer Kit"},
		Variants: []Variant{
			{RAMBytes: 16 * gib, ReserveBytes: 1536 * mib},
			{RAMBytes: 32 * gib, ReserveBytes: 2 * gib}, {RAMBytes: 64 * gib, ReserveBytes: 3 * gib},
		},
		Clusters: []Cluster{{8, "Carmel", 2266, carmel}},

		ReadBytesPerSecond: 50000 * megabytes,
		PageBytes:          fourKiB,
		Sources: []Source{jetsonSheet, flags, pages4K,
			bandwidth(Estimate, "one core copies 10910 MB/s, which reads and writes as much: sbc-bench "+
				"results/4ebH.txt; the memory gives 136500"),
			reserveSource("MemTotal 31 of 32 GiB, 940 MiB used: sbc-bench results/4ebH.txt")},
	},
	{
		Name: "jetson-orin-nano", Title: "NVIDIA Jetson Orin Nano",
		Compatibles: []string{
			"nvidia,p3768-0000+p3767-0003", "nvidia,p3768-0000+p3767-0004", "nvidia,p3768-0000+p3767-0005",
			"nvidia,p3768-0000+p3767-0003-super", "nvidia,p3768-0000+p3767-0004-super",
			"nvidia,p3768-0000+p3767-0005-super",
			"nvidia,p3509-0000+p3767-0003", "nvidia,p3509-0000+p3767-0004", "nvidia,p3509-0000+p3767-0005",
			"nvidia,p3509-0000+p3767-0003-super", "nvidia,p3509-0000+p3767-0004-super",
			"nvidia,p3509-0000+p3767-0005-super",
			"nvidia,p3767-0003", "nvidia,p3767-0004", "nvidia,p3767-0005", "nvidia,jetson-orin-nano"},
		Chips: []string{"nvidia,tegra234"},
		ProductNames: []string{"NVIDIA Orin Nano Developer Kit", "NVIDIA Jetson Orin Nano Developer Kit",
			"NVIDIA Jetson Orin Nano Engineering Reference Developer Kit",
			"NVIDIA Jetson Orin Nano Engineering Reference Developer Kit Super"},
		Variants: []Variant{
			{RAMBytes: 4 * gib, ReserveBytes: 1280 * mib, ReadBytesPerSecond: 22000 * megabytes},
			{RAMBytes: 8 * gib, ReserveBytes: 1536 * mib},
		},
		Clusters: []Cluster{{6, "Cortex-A78AE", 1510, armv82}},

		ReadBytesPerSecond: 40000 * megabytes,
		PageBytes:          fourKiB,
		Sources: []Source{
			{[]Figure{FigureCores, FigureRAM}, Vendor, "NVIDIA data sheet of the module; 1728 MHz in the " +
				"Super mode"}, flags, pages4K,
			bandwidth(Estimate, "one core reads 9780 MB/s: sbc-bench results/4vy7.txt; the memory gives "+
				"68000, 102000 in the Super mode, and 34000 with 4 GB"),
			reserveSource("MemTotal 7.2 to 7.4 of 8 GiB (6.3 with early firmware), 540 to 830 MiB used: " +
				"sbc-bench results/4Ebd.txt, 87lq.txt, 4vy7.txt")},
	},
	{
		Name: "jetson-orin-nx", Title: "NVIDIA Jetson Orin NX",
		Compatibles: []string{"nvidia,p3509-0000+p3767-0000", "nvidia,p3509-0000+p3767-0001",
			"nvidia,p3768-0000+p3767-0000", "nvidia,p3768-0000+p3767-0001",
			"nvidia,p3768-0000+p3767-0000-super", "nvidia,p3768-0000+p3767-0001-super",
			"nvidia,p3767-0000", "nvidia,p3767-0001"},
		Chips: []string{"nvidia,tegra234"},
		ProductNames: []string{"NVIDIA Orin NX Developer Kit",
			"NVIDIA Jetson Orin NX Engineering Reference Developer Kit",
			"NVIDIA Jetson Orin NX Engineering Reference Developer Kit Super"},
		Variants: []Variant{
			{RAMBytes: 8 * gib, ReserveBytes: 1536 * mib, Cores: 6},
			{RAMBytes: 16 * gib, ReserveBytes: 1792 * mib},
		},
		Clusters: []Cluster{{8, "Cortex-A78AE", 1984, armv82}},

		ReadBytesPerSecond: 50000 * megabytes,
		PageBytes:          fourKiB,
		Sources: []Source{jetsonSheet, pages4K,
			{[]Figure{FigureFeatures}, Measured, "Flags of the Orin Nano, which has the same chip"},
			bandwidth(Estimate, "by the Orin Nano's cores; the memory gives 102400 MB/s"),
			reserveSource("MemTotal 15656 of 16384 MiB is reported; 1 GiB for the system")},
	},
	{
		Name: "jetson-agx-orin", Title: "NVIDIA Jetson AGX Orin",
		Compatibles: []string{"nvidia,p3737-0000+p3701-0000", "nvidia,p3737-0000+p3701-0001",
			"nvidia,p3737-0000+p3701-0004", "nvidia,p3737-0000+p3701-0005",
			"nvidia,p3737-0000+p3701-0008", "nvidia,p3701-0000", "nvidia,p3701-0004",
			"nvidia,p3701-0005", "nvidia,p3701-0008"},
		Chips: []string{"nvidia,tegra234"},
		ProductNames: []string{"NVIDIA Jetson AGX Orin Developer Kit", "Jetson AGX Orin Developer Kit",
			"NVIDIA Orin Jetson-Small Developer Kit"},
		Variants: []Variant{
			{RAMBytes: 32 * gib, ReserveBytes: 3 * gib, Cores: 8},
			{RAMBytes: 64 * gib, ReserveBytes: 3584 * mib},
		},
		Clusters: []Cluster{{12, "Cortex-A78AE", 2202, armv82}},

		ReadBytesPerSecond: 80000 * megabytes,
		PageBytes:          fourKiB,
		Sources: []Source{
			{[]Figure{FigureCores, FigureRAM}, Vendor, "NVIDIA data sheet of the module; the first " +
				"developer kit had 12 cores with 32 GB"}, flags, pages4K,
			bandwidth(Estimate, "one core copies 10600 MB/s, which reads and writes as much: sbc-bench "+
				"results/4ax9.txt; the memory gives 204800"),
			reserveSource("MemTotal 29 of 32 GiB, 390 MiB used: sbc-bench results/4ax9.txt")},
	},
	{
		Name: "rock-5b", Title: "Radxa ROCK 5B",
		Compatibles:  []string{"radxa,rock-5b", "radxa,rock-5b-plus"},
		Chips:        []string{"rockchip,rk3588", "rockchip,rk3588s"},
		ProductNames: []string{"ROCK 5B", "ROCK 5B+"},
		Variants: []Variant{
			{RAMBytes: 4 * gib, ReserveBytes: 320 * mib}, {RAMBytes: 8 * gib, ReserveBytes: 448 * mib},
			{RAMBytes: 16 * gib, ReserveBytes: 640 * mib}, {RAMBytes: 24 * gib, ReserveBytes: 896 * mib},
			{RAMBytes: 32 * gib, ReserveBytes: 1152 * mib},
		},
		Clusters: []Cluster{{4, "Cortex-A76", 2400, armv82}, {4, "Cortex-A55", 1800, armv82}},

		ReadBytesPerSecond: 18000 * megabytes,
		PageBytes:          fourKiB,
		Sources: []Source{
			{[]Figure{FigureCores, FigureRAM}, Vendor, "Radxa's product brief and the RK3588 data sheet"},
			flags, pages4K,
			bandwidth(Measured, "one Cortex-A76 reads 17179 to 18466 MB/s, one Cortex-A55 6200 to 6600: "+
				"sbc-bench results/4qJr.txt, 4qJG.txt"),
			reserveSource("MemTotal 15.6 of 16 GiB, 130 to 230 MiB used: sbc-bench results/41BH.txt, " +
				"4qJr.txt")},
	},
	{
		Name: "n100", Title: "Mini PC with Intel N100",
		CPUNames: []string{"Intel(R) N100"},
		Variants: []Variant{
			{RAMBytes: 4 * gib, ReserveBytes: 768 * mib}, {RAMBytes: 8 * gib, ReserveBytes: 1 * gib},
			{RAMBytes: 12 * gib, ReserveBytes: 1152 * mib}, {RAMBytes: 16 * gib, ReserveBytes: 1280 * mib},
			{RAMBytes: 32 * gib, ReserveBytes: 1792 * mib},
		},
		Clusters: []Cluster{{4, "Gracemont", 3400, gracemont}},

		ReadBytesPerSecond: 18000 * megabytes,
		PageBytes:          fourKiB,
		Sources: []Source{
			{[]Figure{FigureCores, FigureFeatures}, Vendor, "Intel ARK, Processor N100"},
			{[]Figure{FigureRAM}, Estimate, "sizes on sale; Intel states 16 GB as the most"},
			{[]Figure{FigurePages}, Vendor, "x86-64 has pages of 4 KiB"},
			bandwidth(Measured, "one core scans 13253 to 18946 MB/s, by the kind of memory: sbc-bench "+
				"results/XObB.txt, uHzXI7.txt, 4vxM.txt"),
			reserveSource("MemTotal 7.5 of 8 GiB, 730 to 1100 MiB used with a desktop: sbc-bench " +
				"results/uHzXI7.txt, XObB.txt")},
	},
}
