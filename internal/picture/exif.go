package picture

import (
	"bytes"
	"encoding/binary"
	"image"
)

// turn is how a picture must be turned to be upright: the orientation of EXIF 2.32, 1 to 8.
type turn int

const straight turn = 1

// swaps tells whether width and height change places.
func (t turn) swaps() bool { return t >= 5 }

// apply gives the picture upright.
func (t turn) apply(src *image.RGBA) *image.RGBA {
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

// place is where a pixel goes.
func (t turn) place(x, y, w, h int) (int, int) {
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

// jpegExif finds the segment APP1 before the picture begins.
func jpegExif(raw []byte) []byte {
	for at := 2; at+4 <= len(raw) && raw[at] == 0xff; {
		marker, n := raw[at+1], int(binary.BigEndian.Uint16(raw[at+2:]))
		if marker == 0xff { // a byte of padding
			at++
			continue
		}
		if marker == 0xda || n < 2 || at+2+n > len(raw) { // the picture itself, or nonsense
			return nil
		}
		if tiff, ok := bytes.CutPrefix(raw[at+4:at+2+n], []byte("Exif\x00\x00")); ok && marker == 0xe1 {
			return tiff
		}
		at += 2 + n
	}
	return nil
}

// pngExif finds the chunk eXIf.
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

// webpExif finds the chunk EXIF.
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

// tagOrientation is the field of the first directory that tells how the camera was held.
const tagOrientation = 0x0112

// orientation reads the one field that matters; whatever cannot be read means upright.
func orientation(tiff []byte) turn {
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
		const short = 3 // the field's type
		if order.Uint16(tiff[f:]) != tagOrientation || order.Uint16(tiff[f+2:]) != short {
			continue
		}
		if o := turn(order.Uint16(tiff[f+8:])); o >= straight && o <= 8 {
			return o
		}
		return straight
	}
	return straight
}
