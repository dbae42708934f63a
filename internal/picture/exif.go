package picture

import (
	"bytes"
	"encoding/binary"
	"image"
)

// rotation is the EXIF 2.32 orientation, 1 to 8: the transformation that makes a picture upright.
type rotation int

const straight rotation = 1

// swaps reports whether width and height are exchanged.
func (t rotation) swaps() bool { return t >= 5 }

// apply returns the upright picture. It copies pixel by pixel: resize reduces a picture before it is rotated.
func (t rotation) apply(src *image.RGBA) *image.RGBA {
	if t == straight {
		return src
	}
	w, h := src.Rect.Dx(), src.Rect.Dy()
	out := image.NewRGBA(image.Rect(0, 0, w, h))
	if t.swaps() {
		out = image.NewRGBA(image.Rect(0, 0, h, w))
	}
	for y := range h {
		for x := range w {
			ox, oy := t.place(x, y, w, h)
			copy(out.Pix[oy*out.Stride+4*ox:], src.Pix[y*src.Stride+4*x:y*src.Stride+4*x+4])
		}
	}
	return out
}

// place returns the target position of a pixel. w and h are the size before the rotation.
func (t rotation) place(x, y, w, h int) (int, int) {
	switch t {
	case 2:
		return w - 1 - x, y
	case 3:
		return w - 1 - x, h - 1 - y
	case 4:
		return x, h - 1 - y
	case 5:
		return y, x
	case 6:
		return h - 1 - y, x
	case 7:
		return h - 1 - y, w - 1 - x
	case 8:
		return y, w - 1 - x
	}
	return x, y
}

// jpegExif returns the data of segment APP1 before the image data. If a length does not fit, it returns nil and does
// not search further, because the file may be forged. It starts after the marker with which every JPEG begins.
func jpegExif(raw []byte) []byte {
	for at := 2; at+4 <= len(raw) && raw[at] == 0xff; {
		marker, n := raw[at+1], int(binary.BigEndian.Uint16(raw[at+2:]))
		if marker == 0xff { // padding byte
			at++
			continue
		}
		if marker == 0xda || n < 2 || at+2+n > len(raw) { // image data, or invalid
			return nil
		}
		if tiff, ok := bytes.CutPrefix(raw[at+4:at+2+n], []byte("Exif\x00\x00")); ok && marker == 0xe1 {
			return tiff
		}
		at += 2 + n
	}
	return nil
}

// jpegScans counts the scans of a JPEG as the decoder finds them, and reports whether the picture is progressive. It reads
// segments by their length, and skips what follows them up to the next marker. Segments may contain other pictures, whose
// scans and frames do not count.
func jpegScans(raw []byte) (n int, progressive bool) {
	for at := 2; ; {
		next := bytes.IndexByte(raw[at:], 0xff)
		if at += next + 1; next < 0 || at >= len(raw) {
			return n, progressive
		}
		switch marker := raw[at]; {
		case marker == 0xff: // padding
		case marker == 0, marker >= 0xd0 && marker <= 0xd7: // neither has a length
			at++
		case marker == 0xd9: // the end; telephones append videos
			return n, progressive
		case at+3 > len(raw):
			return n, progressive
		default:
			switch marker {
			case 0xda:
				n++
			case 0xc2: // SOF2
				progressive = true
			}
			if at += 1 + int(binary.BigEndian.Uint16(raw[at+1:])); at > len(raw) {
				return n, progressive
			}
		}
	}
}

// pngExif returns the data of chunk eXIf. The length is compared with the remaining bytes, so that a forged length
// cannot lead beyond the end.
func pngExif(raw []byte) []byte {
	for at := 8; at+12 <= len(raw); {
		n := int(binary.BigEndian.Uint32(raw[at:]))
		if n > len(raw)-at-12 {
			return nil
		}
		if string(raw[at+4:at+8]) == "eXIf" {
			return raw[at+8 : at+8+n]
		}
		at += 12 + n
	}
	return nil
}

// webpExif returns the data of chunk EXIF. Chunks are padded to an even length.
func webpExif(raw []byte) []byte {
	for at := 12; at+8 <= len(raw); {
		n := int(binary.LittleEndian.Uint32(raw[at+4:]))
		if n > len(raw)-at-8 {
			return nil
		}
		if string(raw[at:at+4]) == "EXIF" {
			return bytes.TrimPrefix(raw[at+8:at+8+n], []byte("Exif\x00\x00")) // some cameras write it twice
		}
		at += 8 + n + n%2
	}
	return nil
}

// tagOrientation is the orientation field of the first directory.
const tagOrientation = 0x0112

// orientation returns the orientation field; upright if it cannot be read, because a picture that lies on its side is better
// than none. Only this field is read: a library for all of EXIF would parse much more of an untrusted file.
func orientation(tiff []byte) rotation {
	if len(tiff) < 8 {
		return straight
	}
	var order binary.ByteOrder
	switch string(tiff[:4]) {
	case "II*\x00":
		order = binary.LittleEndian
	case "MM\x00*":
		order = binary.BigEndian
	default:
		return straight
	}
	// The type is int64, because an offset of 32 bits plus twelve times a count must not overflow on any machine.
	at := int64(order.Uint32(tiff[4:]))
	if at+2 > int64(len(tiff)) {
		return straight
	}
	fields := int64(order.Uint16(tiff[at:]))
	for i := range fields {
		f := at + 2 + 12*i
		if f+12 > int64(len(tiff)) {
			return straight
		}
		const short = 3 // TIFF field type
		if order.Uint16(tiff[f:]) != tagOrientation || order.Uint16(tiff[f+2:]) != short {
			continue
		}
		if o := rotation(order.Uint16(tiff[f+8:])); o >= straight && o <= 8 {
			return o
		}
		return straight
	}
	return straight
}
