package kernels

// Cache formats: how a tile of keys or values is kept, and what it occupies.
//
// A tile is TileTokens consecutive positions of one (layer, KV head, side).
// Codes are unsigned, 1 to 8 bits, packed as planes (PackCodes), rows in order,
// after the scales:
//
//	affine   rows, fp16 scale and minimum per row and group    x̂ = s·code + m
//	rows     rows, fp16 scale per row and group                x̂ = s·level[code]
//	chan-a   channels, fp16 scale and minimum per channel      x̂ = s·code + m
//	chan-c   channels, u8 scale and i8 zero per channel, one
//	         fp16 super-scale a head in the head of the page   x̂ = S·u·(code − 2^(b−1) − z)
//
// A format also names what happens to a row before it is coded (KVFormat); the
// cache undoes it on the query or on the head's output.

import "fmt"

// TileTokens is the number of positions in one tile.
const TileTokens = 32

// MaxHeadDim is the largest head dimension a cache takes.
const MaxHeadDim = 1024

// maxContextTokens keeps every product of the byte formula within int64.
const maxContextTokens = 1 << 30

// KVKind is a family of cache formats.
type KVKind uint8

const (
	KVF32      KVKind = iota // float32 rows
	KVF16                    // IEEE half rows
	KVAffine                 // rows of codes, fp16 scale and minimum per group: RA
	KVRows                   // rows of codes, fp16 scale per group: KR, VR
	KVChannels               // channels of 32 codes, fp16 scale and minimum: chan-A
	KVCompact                // channels, u8 scale and i8 zero, super-scale: chan-C
)

var kindNames = [...]string{"f32", "f16", "affine", "rows", "chan-a", "chan-c"}

// String returns the name that plans use.
func (k KVKind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("KVKind(%d)", k)
}

// KVFit is how the scale, the minimum and the codes of an affine group are
// chosen: affine rows and channels. See fitAffine.
type KVFit uint8

const (
	FitsMinMax    KVFit = iota // FitMinMax
	FitsLS                     // FitLeastSquares
	FitsHQQ                    // FitHQQ
	FitsQuanto                 // FitQuanto, the MaxOptimizer
	FitsQuantoHQQ              // FitQuantoHQQ
	FitsQuantoZP               // FitQuantoZeroPoint
	FitsAbsmax                 // FitQuantoAbsmax, 8 bits only
	numFits
)

var fitNames = [...]string{"minmax", "ls", "hqq", "quanto", "quanto-hqq", "quanto-zp", "absmax"}

// String returns the name that plans use.
func (f KVFit) String() string {
	if f < numFits {
		return fitNames[f]
	}
	return fmt.Sprintf("KVFit(%d)", f)
}

// ParseKVFit is the inverse of KVFit.String.
func ParseKVFit(name string) (KVFit, bool) {
	for f, n := range fitNames {
		if n == name {
			return KVFit(f), true
		}
	}
	return 0, false
}

// KVFormat is how one side (K or V) of a layer is kept. It is comparable.
type KVFormat struct {
	Kind  KVKind
	Bits  int // 32 and 16 for the float kinds, 1 to 8 for codes
	Group int // channels that share a scale: affine and rows; else 0

	Fit         KVFit // affine and channels
	ClipPercent int   // of the range that a group's codes span, 50 to 99; 0: all of it
	Rotate      bool  // coded rows are rotated: keys whole (NewKeyRotation), values by NewValueRotation
	Centre      bool  // keys: coded rows are less the mean of the session's first tile
	Balance     bool  // keys: coded rows are divided, the query multiplied, by a side file's Λ
	Debias      bool  // rows: the scale stored makes ⟨x̂,x⟩ = ⟨x,x⟩
}

// CacheF32 and CacheF16 are the float formats.
var (
	CacheF32 = KVFormat{Kind: KVF32, Bits: 32}
	CacheF16 = KVFormat{Kind: KVF16, Bits: 16}
)

// AffineRows is the format RA of bits 1 to 8 and group 16, 32, 64 or 128,
// fitted by min and max.
func AffineRows(bits, group int) KVFormat {
	return KVFormat{Kind: KVAffine, Bits: bits, Group: group}
}

// KeyRows is KR, the default of keys: centred, rotated rows, Lloyd–Max levels up
// to 4 bits, uniform ones above.
func KeyRows(bits, group int) KVFormat {
	return KVFormat{Kind: KVRows, Bits: bits, Group: group, Rotate: true, Centre: true}
}

// ValueRows is VR, the default of values: rotated rows with a de-biased scale.
func ValueRows(bits, group int) KVFormat {
	return KVFormat{Kind: KVRows, Bits: bits, Group: group, Rotate: true, Debias: true}
}

// KeyChannels is chan-A: each channel of a tile of keys has its own range.
func KeyChannels(bits int) KVFormat { return KVFormat{Kind: KVChannels, Bits: bits} }

// CompactChannels is chan-C, of centred keys: an 8-bit zero spans 128 steps.
func CompactChannels(bits int) KVFormat {
	return KVFormat{Kind: KVCompact, Bits: bits, Centre: true}
}

// String returns the kind, the bits and the group, such as "affine4g32".
func (f KVFormat) String() string {
	switch {
	case !f.Quantized():
		return f.Kind.String()
	case f.Group > 0:
		return fmt.Sprintf("%v%dg%d", f.Kind, f.Bits, f.Group)
	}
	return fmt.Sprintf("%v%d", f.Kind, f.Bits)
}

// Quantized says whether tiles are sealed into codes, as against float rows.
func (f KVFormat) Quantized() bool { return f.Kind >= KVAffine }

// ByRow says whether a row can be coded by itself, without the rest of its tile.
func (f KVFormat) ByRow() bool { return f.Kind <= KVRows }

// HasMinima says whether a scale comes with an offset.
func (f KVFormat) HasMinima() bool { return f.Kind != KVRows && f.Quantized() }

// Check returns an error when f is no format this version has.
func (f KVFormat) Check() error {
	switch f.Kind {
	case KVF32, KVF16:
		if f != CacheF32 && f != CacheF16 {
			return fmt.Errorf("kernels: %v rows take no bits, groups, fits or transforms", f.Kind)
		}
		return nil
	case KVAffine, KVRows:
		if f.Group != 16 && f.Group != 32 && f.Group != 64 && f.Group != 128 {
			return fmt.Errorf("kernels: groups of %d in %v; a group is 16, 32, 64 or 128 channels",
				f.Group, f.Kind)
		}
	case KVChannels, KVCompact:
		if f.Group != 0 {
			return fmt.Errorf("kernels: %v has one scale a channel, no groups of %d", f.Kind, f.Group)
		}
	default:
		return fmt.Errorf("kernels: no cache format of kind %d; there are f32, f16, affine and "+
			"level rows, and the channel tiles chan-a and chan-c", f.Kind)
	}
	switch {
	case f.Bits < 1 || f.Bits > 8:
		return fmt.Errorf("kernels: %v of %d bits; codes have 1 to 8", f.Kind, f.Bits)
	case f.Fit >= numFits:
		return fmt.Errorf("kernels: no fit %d", f.Fit)
	case f.Kind == KVRows && (f.Fit != FitsMinMax || f.ClipPercent != 0):
		return fmt.Errorf("kernels: rows are fitted to their levels; a fit (%v) or a clip needs "+
			"affine rows or channels", f.Fit)
	case f.Fit == FitsAbsmax && f.Bits != 8:
		return fmt.Errorf("kernels: the fit absmax has 8 bits, not %d", f.Bits)
	case f.ClipPercent != 0 && (f.ClipPercent < 50 || f.ClipPercent > 99):
		return fmt.Errorf("kernels: a clip of %d %%; it keeps 50 to 99 %% of the range", f.ClipPercent)
	case f.Debias && f.Kind != KVRows:
		return fmt.Errorf("kernels: only the scale of rows is de-biased, not that of %v", f.Kind)
	case f.Kind == KVCompact && !f.Centre:
		return fmt.Errorf("kernels: chan-c needs centred keys: its zero spans 128 steps")
	}
	return nil
}

// PaddedHeadDim is the row length in storage: d rounded up to 16, so that
// every plane of every row is whole bytes.
func PaddedHeadDim(d int) int { return (d + 15) &^ 15 }

// TileSize is what one tile, or one page, occupies. Padding is what channels
// d to PaddedHeadDim(d)-1 take; it is zero where d is a multiple of 16.
type TileSize struct{ PayloadBytes, ScaleBytes, PaddingBytes int }

// Bytes is the sum.
func (t TileSize) Bytes() int { return t.PayloadBytes + t.ScaleBytes + t.PaddingBytes }

func (t TileSize) times(n int) TileSize {
	return TileSize{n * t.PayloadBytes, n * t.ScaleBytes, n * t.PaddingBytes}
}

// Tile returns the size of one tile: 32 rows of bits·d/8 bytes, and the scales:
//
//	affine 2·2·32·⌈d/g⌉   rows 2·32·⌈d/g⌉   chan-a 2·2·d   chan-c (1+1)·d
func (f KVFormat) Tile(headDim int) TileSize {
	padded := PaddedHeadDim(headDim)
	t := TileSize{
		PayloadBytes: TileTokens * headDim * f.Bits / 8,
		PaddingBytes: TileTokens * (padded - headDim) * f.Bits / 8,
	}
	switch f.Kind {
	case KVAffine, KVRows:
		t.ScaleBytes = f.channelScaleBytes() * TileTokens * groupsOf(padded, f.Group)
	case KVChannels, KVCompact:
		t.ScaleBytes = f.channelScaleBytes() * headDim
		t.PaddingBytes += f.channelScaleBytes() * (padded - headDim)
	}
	return t
}

// channelScaleBytes is what belongs to one scale: with its minimum or zero.
func (f KVFormat) channelScaleBytes() int {
	if f.Kind == KVAffine || f.Kind == KVChannels {
		return 4
	}
	return 2
}

// Page returns the size of a page: the tiles of kvHeads heads and, of chan-c,
// their super-scales before them.
func (f KVFormat) Page(kvHeads, headDim int) TileSize {
	p := f.Tile(headDim).times(kvHeads)
	p.ScaleBytes += f.PageHeaderBytes(kvHeads)
	return p
}

// PageHeaderBytes is what a page has before its first tile: of chan-c one fp16 a
// KV head, in whole 32 bytes, 32·⌈H/16⌉.
func (f KVFormat) PageHeaderBytes(kvHeads int) int {
	if f.Kind != KVCompact {
		return 0
	}
	return 32 * ((kvHeads + 15) / 16)
}
