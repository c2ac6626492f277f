package kernels

// ScaleRows is the reference of Set.ScaleRows: dst[r·ng+g] = w[r]·scales[r·ng+g], the
// softmax weight of a row times the scales of its groups.
func ScaleRows(dst, w, scales []float32, ng int) {
	dst, scales = dst[:len(w)*ng], scales[:len(w)*ng]
	if ng == 1 {
		for r, s := range scales {
			dst[r] = w[r] * s
		}
		return
	}
	for r, weight := range w {
		row := dst[r*ng : (r+1)*ng]
		for g, s := range scales[r*ng : (r+1)*ng] {
			row[g] = weight * s
		}
	}
}
