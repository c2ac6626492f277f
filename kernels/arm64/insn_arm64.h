// Instructions that the Go assembler lacks, as WORD encodings under the manual's
// mnemonics. Arguments are register numbers (0-31) in Go's order, destination
// last: FMUL_4S(m, n, d) is fmul v<d>.4s, v<n>.4s, v<m>.4s. F<n> and V<n> are
// register n. i is a lane, f a number of fraction bits, sh a shift count, o a
// byte offset.
//
// testdata/insn.txt holds for every macro a few calls, the word that GNU as
// gives and the text it was given; insn_test.go compares. A new macro needs its
// lines there.

// Float32 vectors. FMLA is VFMLA, here for macros that take numbers.
#define FADD_4S(m, n, d) WORD $(0x4e20d400 | (m)<<16 | (n)<<5 | (d))
#define FSUB_4S(m, n, d) WORD $(0x4ea0d400 | (m)<<16 | (n)<<5 | (d))
#define FMUL_4S(m, n, d) WORD $(0x6e20dc00 | (m)<<16 | (n)<<5 | (d))
#define FDIV_4S(m, n, d) WORD $(0x6e20fc00 | (m)<<16 | (n)<<5 | (d))
#define FDIV_2S(m, n, d) WORD $(0x2e20fc00 | (m)<<16 | (n)<<5 | (d))
#define FMAX_4S(m, n, d) WORD $(0x4e20f400 | (m)<<16 | (n)<<5 | (d))
#define FMIN_4S(m, n, d) WORD $(0x4ea0f400 | (m)<<16 | (n)<<5 | (d))
#define FMAXNM_4S(m, n, d) WORD $(0x4e20c400 | (m)<<16 | (n)<<5 | (d))
#define FMINNM_4S(m, n, d) WORD $(0x4ea0c400 | (m)<<16 | (n)<<5 | (d))
#define FADDP_4S(m, n, d) WORD $(0x6e20d400 | (m)<<16 | (n)<<5 | (d))
#define FCMGE_4S(m, n, d) WORD $(0x6e20e400 | (m)<<16 | (n)<<5 | (d))
#define FCMGT_4S(m, n, d) WORD $(0x6ea0e400 | (m)<<16 | (n)<<5 | (d))
#define FABS_4S(n, d) WORD $(0x4ea0f800 | (n)<<5 | (d))
#define FNEG_4S(n, d) WORD $(0x6ea0f800 | (n)<<5 | (d))
#define FRINTN_4S(n, d) WORD $(0x4e218800 | (n)<<5 | (d))
#define FMAXNMV_4S(n, d) WORD $(0x6e30c800 | (n)<<5 | (d))
#define FMAXV_4S(n, d) WORD $(0x6e30f800 | (n)<<5 | (d))
#define FMLA_4S(m, n, d) WORD $(0x4e20cc00 | (m)<<16 | (n)<<5 | (d))
#define FMLA_4S_LANE(i, m, n, d) \
	WORD $(0x4f801000 | ((i)&1)<<21 | ((i)>>1)<<11 | (m)<<16 | (n)<<5 | (d))
#define FMUL_4S_LANE(i, m, n, d) \
	WORD $(0x4f809000 | ((i)&1)<<21 | ((i)>>1)<<11 | (m)<<16 | (n)<<5 | (d))

// Conversions.
#define SCVTF_4S(n, d) WORD $(0x4e21d800 | (n)<<5 | (d))
#define SCVTF_4S_FIX(f, n, d) WORD $(0x4f00e400 | (64-(f))<<16 | (n)<<5 | (d))
#define FCVTZS_4S(n, d) WORD $(0x4ea1b800 | (n)<<5 | (d))
#define FCVTNS_4S(n, d) WORD $(0x4e21a800 | (n)<<5 | (d))
#define FCVTL(n, d) WORD $(0x0e217800 | (n)<<5 | (d))
#define FCVTL2(n, d) WORD $(0x4e217800 | (n)<<5 | (d))
#define FCVTN(n, d) WORD $(0x0e216800 | (n)<<5 | (d))
#define FCVTN2(n, d) WORD $(0x4e216800 | (n)<<5 | (d))

// Integer products and widening sums. ADDP is VADDP, here for macros that take numbers.
#define MUL_4S(m, n, d) WORD $(0x4ea09c00 | (m)<<16 | (n)<<5 | (d))
#define MLA_4S(m, n, d) WORD $(0x4ea09400 | (m)<<16 | (n)<<5 | (d))
#define SMULL_8H(m, n, d) WORD $(0x0e20c000 | (m)<<16 | (n)<<5 | (d))
#define SMULL2_8H(m, n, d) WORD $(0x4e20c000 | (m)<<16 | (n)<<5 | (d))
#define SMLAL_8H(m, n, d) WORD $(0x0e208000 | (m)<<16 | (n)<<5 | (d))
#define SMLAL2_8H(m, n, d) WORD $(0x4e208000 | (m)<<16 | (n)<<5 | (d))
#define ADDP_8H(m, n, d) WORD $(0x4e60bc00 | (m)<<16 | (n)<<5 | (d))
#define ADDP_4S(m, n, d) WORD $(0x4ea0bc00 | (m)<<16 | (n)<<5 | (d))
#define SADDLP_4S(n, d) WORD $(0x4e602800 | (n)<<5 | (d))
#define SADALP_4S(n, d) WORD $(0x4e606800 | (n)<<5 | (d))
#define SHLL_4S(n, d) WORD $(0x2e613800 | (n)<<5 | (d))
#define SHLL2_4S(n, d) WORD $(0x6e613800 | (n)<<5 | (d))
#define SXTL_8H(n, d) WORD $(0x0f08a400 | (n)<<5 | (d))
#define SXTL2_8H(n, d) WORD $(0x4f08a400 | (n)<<5 | (d))
#define SXTL_4S(n, d) WORD $(0x0f10a400 | (n)<<5 | (d))
#define SXTL2_4S(n, d) WORD $(0x4f10a400 | (n)<<5 | (d))
#define SSHR_16B(sh, n, d) WORD $(0x4f000400 | (16-(sh))<<16 | (n)<<5 | (d))
#define SSHR_4S(sh, n, d) WORD $(0x4f000400 | (64-(sh))<<16 | (n)<<5 | (d))
#define USHL_16B(m, n, d) WORD $(0x6e204400 | (m)<<16 | (n)<<5 | (d))
#define SMAX_4S(m, n, d) WORD $(0x4ea06400 | (m)<<16 | (n)<<5 | (d))
#define SMIN_4S(m, n, d) WORD $(0x4ea06c00 | (m)<<16 | (n)<<5 | (d))

// Scalar halves.
#define LDR_H(o, n, d) WORD $(0x7d400000 | ((o)>>1)<<10 | (n)<<5 | (d))
#define STR_H(o, n, d) WORD $(0x7d000000 | ((o)>>1)<<10 | (n)<<5 | (d))

// Loads and prefetch by register offset.
#define LDR_Q(m, n, d) WORD $(0x3ce06800 | (m)<<16 | (n)<<5 | (d))
#define PRFM_PLDL1KEEP(m, n) WORD $(0xf8a06800 | (m)<<16 | (n)<<5)

// FEAT_DotProd (HWCAP asimddp): Cortex-A55, A75 and later; not A53, A57, A72.
#define SDOT_16B(m, n, d) WORD $(0x4e809400 | (m)<<16 | (n)<<5 | (d))
#define SDOT_LANE(i, m, n, d) \
	WORD $(0x4f80e000 | ((i)&1)<<21 | ((i)>>1)<<11 | (m)<<16 | (n)<<5 | (d))
#define UDOT_16B(m, n, d) WORD $(0x6e809400 | (m)<<16 | (n)<<5 | (d))
