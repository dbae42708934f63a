package picture

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"comanda/internal/fault"
	"comanda/internal/testenv"
)

var sizes = []Size{{960, 120 << 10}, {320, 20 << 10}}

// testPicture returns a picture that is red on the left, green on the right, and blue along the top.
func testPicture(w, h int) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			c := color.NRGBA{200, 20, 20, 255}
			if x >= w/2 {
				c = color.NRGBA{20, 200, 20, 255}
			}
			if y < h/4 {
				c = color.NRGBA{20, 20, 200, 255}
			}
			img.SetNRGBA(x, y, c)
		}
	}
	return img
}

func asJPEG(t testing.TB, img image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	testenv.NoError(t, jpeg.Encode(&b, img, &jpeg.Options{Quality: 95}))
	return b.Bytes()
}

func asPNG(t testing.TB, img image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	testenv.NoError(t, png.Encode(&b, img))
	return b.Bytes()
}

// tiff returns Exif data with an orientation, followed by a secret.
func tiff(order binary.ByteOrder, mark string, o uint16) []byte {
	b := []byte(mark)
	b = append(b, make([]byte, 26-len(b))...)
	order.PutUint32(b[4:], 8)
	order.PutUint16(b[8:], 1)
	order.PutUint16(b[10:], tagOrientation)
	order.PutUint16(b[12:], 3)
	order.PutUint32(b[14:], 1)
	order.PutUint16(b[18:], o)
	return append(b, "GPS 21.0278"...)
}

// withExif puts a segment behind the first two bytes of a JPEG.
func withExif(raw, exif []byte) []byte {
	seg := append([]byte("\xff\xe1\x00\x00Exif\x00\x00"), exif...)
	binary.BigEndian.PutUint16(seg[2:], uint16(len(seg)-2))
	return bytes.Join([][]byte{raw[:2], seg, raw[2:]}, nil)
}

func pngWithExif(raw, exif []byte) []byte {
	chunk := make([]byte, 8, 12+len(exif))
	binary.BigEndian.PutUint32(chunk, uint32(len(exif)))
	copy(chunk[4:], "eXIf")
	chunk = append(chunk, exif...)
	chunk = binary.BigEndian.AppendUint32(chunk, crc32.ChecksumIEEE(chunk[4:]))
	const header = 33 // the signature and IHDR
	return bytes.Join([][]byte{raw[:header], chunk, raw[header:]}, nil)
}

// made processes a file and decodes the results.
func made(t *testing.T, raw []byte, want ...Size) []image.Image {
	t.Helper()
	_, files := testenv.Must2(NewProcessor().Process(t.Context(), raw, want...))(t)
	all := make([]image.Image, len(files))
	for i, f := range files {
		if bytes.Contains(f, []byte("GPS")) || bytes.Contains(f, []byte("Exif")) {
			t.Error("what the camera wrote is still there")
		}
		all[i] = testenv.Must(jpeg.Decode(bytes.NewReader(f)))(t)
	}
	return all
}

// colour returns the strongest of the three colours at a place given in percent.
func colour(img image.Image, x, y int) string {
	b := img.Bounds()
	r, g, bl, _ := img.At(b.Dx()*x/100, b.Dy()*y/100).RGBA()
	switch {
	case r > 0xe000 && g > 0xe000 && bl > 0xe000:
		return "white"
	case r > g && r > bl:
		return "red"
	case g > bl:
		return "green"
	}
	return "blue"
}

func TestDevelop_sizes(t *testing.T) {
	for _, tt := range []struct{ w, h, lw, lh, tw, th int }{
		{2000, 1500, 960, 720, 320, 240},
		{1500, 2000, 960, 1280, 320, 426},
		{500, 400, 500, 400, 320, 256}, // never enlarged
		{1, 1, 1, 1, 1, 1},
		{100, 4000, 48, 1920, 16, 640}, // at most twice as high as wide
		{4000, 1, 960, 1, 320, 1},
	} {
		all := made(t, asJPEG(t, testPicture(tt.w, tt.h)), sizes...)
		l, s := all[0].Bounds(), all[1].Bounds()
		if l.Dx() != tt.lw || l.Dy() != tt.lh || s.Dx() != tt.tw || s.Dy() != tt.th {
			t.Errorf("%dx%d became %v and %v", tt.w, tt.h, l, s)
		}
	}
}

// TestDevelop_orientation writes the picture in each camera orientation and expects it upright.
func TestDevelop_orientation(t *testing.T) {
	upright := testPicture(250, 150)
	for o := straight; o <= 8; o++ {
		held := image.NewNRGBA(image.Rect(0, 0, 250, 150))
		if o.swaps() {
			held = image.NewNRGBA(image.Rect(0, 0, 150, 250))
		}
		w, h := held.Rect.Dx(), held.Rect.Dy()
		for y := range h {
			for x := range w {
				ux, uy := o.place(x, y, w, h)
				held.SetNRGBA(x, y, upright.NRGBAAt(ux, uy))
			}
		}
		little := tiff(binary.LittleEndian, "II*\x00", uint16(o))
		big := tiff(binary.BigEndian, "MM\x00*", uint16(o))
		for name, raw := range map[string][]byte{
			"jpeg": withExif(asJPEG(t, held), little), "jpeg, big endian": withExif(asJPEG(t, held), big),
			"png": pngWithExif(asPNG(t, held), little),
		} {
			for _, img := range made(t, raw, Size{240, 30 << 10}, Size{80, 5 << 10}) {
				if b := img.Bounds(); b.Dx() <= b.Dy() || colour(img, 10, 70) != "red" || colour(img, 90, 70) != "green" ||
					colour(img, 50, 10) != "blue" {
					t.Errorf("%s held as %d: %v, %s, %s, %s", name, o, b, colour(img, 10, 70), colour(img, 90, 70), colour(img, 50, 10))
				}
			}
		}
	}
}

func TestOrientation_of_nonsense(t *testing.T) {
	good := tiff(binary.LittleEndian, "II*\x00", 6)
	if orientation(good) != 6 {
		t.Error("the field is not found")
	}
	outside := bytes.Clone(good)
	binary.LittleEndian.PutUint32(outside[4:], 0xffffffff)
	many := bytes.Clone(good)
	binary.LittleEndian.PutUint16(many[8:], 0xffff)
	binary.LittleEndian.PutUint16(many[10:], 1)
	for name, b := range map[string][]byte{
		"nothing": nil, "cut off": good[:12], "another mark": append([]byte("XX"), good[2:]...), "far away": outside,
		"too many fields": many, "nine": tiff(binary.LittleEndian, "II*\x00", 9), "zero": tiff(binary.LittleEndian, "II*\x00", 0),
	} {
		if o := orientation(b); o != straight {
			t.Errorf("orientation of %s = %d, want %d", name, o, straight)
		}
	}
}

// dot returns a WebP image of one pixel.
func dot(t testing.TB) []byte {
	t.Helper()
	return testenv.Must(base64.StdEncoding.DecodeString("UklGRiQAAABXRUJQVlA4IBgAAAAwAQCdASoBAAEAAgA0JaQAA3AA/vuUAAA="))(t)
}

func TestDevelop_webp(t *testing.T) {
	for _, img := range made(t, dot(t), sizes...) {
		if b := img.Bounds(); b.Dx() != 1 || b.Dy() != 1 {
			t.Error(b)
		}
	}
	exif := tiff(binary.LittleEndian, "II*\x00", 6)
	chunk := binary.LittleEndian.AppendUint32([]byte("EXIF"), uint32(len(exif)))
	if got := orientation(webpExif(bytes.Join([][]byte{dot(t), chunk, exif}, nil))); got != 6 {
		t.Errorf("it was held as %d", got)
	}
}

func TestDevelop_transparency_is_white(t *testing.T) {
	img := testPicture(400, 400)
	for i := 3; i < len(img.Pix); i += 4 {
		img.Pix[i] = 0
	}
	for _, m := range made(t, asPNG(t, img), sizes...) {
		testenv.Equal(t, "white", colour(m, 50, 50))
	}
}

// A menu with photos must load quickly: the thumbnail of a detailed picture stays small.
func TestDevelop_bytes(t *testing.T) {
	img := testPicture(2000, 1500)
	random := rand.New(rand.NewPCG(1, 2))
	for y := 0; y < 1500; y += 9 { // about as much detail as a photo of noodles
		for x := 0; x < 2000; x += 9 {
			c := color.NRGBA{uint8(random.IntN(256)), uint8(random.IntN(256)), uint8(random.IntN(256)), 255}
			for d := range 40 {
				img.SetNRGBA(x+d%7, y+d/7, c)
			}
		}
	}
	id, files, err := NewProcessor().Process(t.Context(), asJPEG(t, img), sizes...)
	if err != nil || len(files[0]) > 200<<10 || len(files[1]) > 20<<10 {
		t.Errorf("%d and %d bytes, %v", len(files[0]), len(files[1]), err)
	}
	again, _, err := NewProcessor().Process(t.Context(), asJPEG(t, img), sizes...)
	if again != id || len(id) != 32 || err != nil {
		t.Errorf("the same picture is %s and %s, %v", id, again, err)
	}
}

// claimed returns a PNG that claims a size and has no content.
func claimed(t *testing.T, w, h uint32) []byte {
	t.Helper()
	raw := asPNG(t, testPicture(1, 1))
	binary.BigEndian.PutUint32(raw[16:], w)
	binary.BigEndian.PutUint32(raw[20:], h)
	binary.BigEndian.PutUint32(raw[29:], crc32.ChecksumIEEE(raw[12:29]))
	return raw
}

func TestDevelop_refuses(t *testing.T) {
	good := asJPEG(t, testPicture(300, 300))
	for name, c := range map[string]struct {
		raw  []byte
		want error
	}{
		"nothing":            {nil, ErrUnreadable},
		"text":               {[]byte("<svg onload=alert(1)>"), ErrUnreadable},
		"a GIF":              {[]byte("GIF89a\x01\x00\x01\x00\x00\x00\x00;"), ErrUnreadable},
		"cut off":            {good[:len(good)/2], ErrUnreadable},
		"only a mark":        {good[:3], ErrUnreadable},
		"a gigapixel":        {claimed(t, 40_000, 40_000), ErrTooManyPixels},
		"one line too much":  {claimed(t, 10_000, 4_001), ErrTooManyPixels},
		"nothing behind it":  {claimed(t, 10_000, 4_000), ErrUnreadable},
		"no width":           {claimed(t, 0, 10), ErrUnreadable},
		"a WebP of nothing":  {[]byte("RIFF\x00\x00\x00\x00WEBP"), ErrUnreadable},
		"a WebP without end": {[]byte("RIFF\xff\xff\xff\xffWEBPVP8X\x0a\x00\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff\xff\xff"), ErrUnreadable},
	} {
		if _, _, err := NewProcessor().Process(t.Context(), c.raw, sizes...); !errors.Is(err, c.want) {
			t.Errorf("Process of %s: error %v, want %v", name, err, c.want)
		}
	}
}

// The detail names the limit that a picture exceeds.
func TestDevelop_limits(t *testing.T) {
	for _, c := range []struct {
		w, h uint32
		want *fault.Error
	}{
		{40_000, 40_000, ErrTooManyPixels}, {10_000, 4_001, ErrTooManyPixels},
		{1, MaxEdge + 1, ErrTooLong}, {MaxEdge + 1, 1, ErrTooLong}, {MaxEdge, 2000, ErrUnreadable}, // nothing behind it
	} {
		_, _, err := NewProcessor().Process(t.Context(), claimed(t, c.w, c.h), sizes...)
		if got, ok := errors.AsType[*fault.Error](err); !ok || got.Code != c.want.Code || got.Detail != c.want.Detail {
			t.Errorf("Process of %d by %d: error %v, want %v", c.w, c.h, err, c.want)
		}
	}
}

// frame returns a JPEG that claims a size and has no content. mode is SOF0 (0xc0) or SOF2 (0xc2).
func frame(mode byte, colours, w, h int) []byte {
	b := []byte{0xff, 0xd8, 0xff, mode, 0, byte(8 + 3*colours), 8}
	b = binary.BigEndian.AppendUint16(b, uint16(h))
	b = append(binary.BigEndian.AppendUint16(b, uint16(w)), byte(colours))
	for i := range colours {
		b = append(b, byte(i+1), 0x11, 0)
	}
	return append(b, 0xff, 0xda, 0, 2, 0xff, 0xd9) // a scan of nothing
}

// A progressive picture with four colours takes up to a gigabyte while it is decoded, so that its size is limited before.
func TestDevelop_progressive_CMYK(t *testing.T) {
	preview := append([]byte{0xff, 0xe2, 0, 4}, 0xff, 0xc2) // the frame of another picture in a segment
	withPreview := func(raw []byte) []byte { return bytes.Join([][]byte{raw[:2], preview, raw[2:]}, nil) }
	for name, c := range map[string]struct {
		raw  []byte
		want error
	}{
		"the limit":                  {frame(0xc2, 4, 5000, 5000), ErrUnreadable}, // nothing behind it
		"a line more":                {frame(0xc2, 4, 5000, 5001), errCMYK},
		"a line more and a preview":  {withPreview(frame(0xc2, 4, 5000, 5001)), errCMYK},
		"more than any":              {frame(0xc2, 4, 10_000, 4001), ErrTooManyPixels},
		"three colours":              {frame(0xc2, 3, 10_000, 4000), ErrUnreadable},
		"one pass":                   {frame(0xc0, 4, 10_000, 4000), ErrUnreadable},
		"one pass behind a preview":  {withPreview(frame(0xc0, 4, 10_000, 4000)), ErrUnreadable},
		"a progressive black square": {scanned(1), nil},
	} {
		if _, _, err := NewProcessor().Process(t.Context(), c.raw, sizes...); !errors.Is(err, c.want) {
			t.Errorf("Process of %s: error %v, want %v", name, err, c.want)
		}
	}
}

// The highest picture of one column must not take much more memory than its pixels. A file of 39 kB once took 2.4 GB.
func TestDevelop_memory_of_a_line(t *testing.T) {
	raw := asPNG(t, image.NewGray(image.Rect(0, 0, 1, MaxEdge)))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	testenv.Must2(NewProcessor().Process(t.Context(), raw, sizes...))(t)
	runtime.ReadMemStats(&after)
	if used := (after.TotalAlloc - before.TotalAlloc) >> 20; used > 32 {
		t.Errorf("took %d MB, want at most 32", used)
	}
}

// scanned returns a progressive JPEG of one black square of 8 by 8 pixels, stored in a number of scans without data.
func scanned(scans int, more ...string) []byte {
	table := "\xff\xc4\x00\x14\x10\x01" + strings.Repeat("\x00", 16) // one code of one bit: the end of the block
	quantities := "\xff\xdb\x00\x43\x00" + strings.Repeat("\x01", 64)
	frame := "\xff\xc2\x00\x0b\x08\x00\x08\x00\x08\x01\x01\x11\x00"
	scan := "\xff\xda\x00\x08\x01\x01\x00\x01\x3f\x00" + "\x00"
	return []byte("\xff\xd8" + strings.Join(more, "") + quantities + frame + table + strings.Repeat(scan, scans) + "\xff\xd9")
}

// Each scan of a progressive JPEG takes time for the whole picture, and eight bytes of the file. Scans of the small
// pictures that cameras put into a segment do not count, nor do those of a video behind the picture.
func TestDevelop_scans(t *testing.T) {
	many := strings.Repeat("\xff\xda", maxScans+1)
	good, bad := scanned(maxScans), scanned(maxScans+1)
	scan := []byte("\xff\xda")
	preview := "\xff\xe2\x00\xd0" + many + strings.Repeat("x", 0xd0-2-len(many))
	for name, c := range map[string]struct {
		raw  []byte
		want error
	}{
		"the limit":               {good, nil},
		"one more":                {bad, ErrUnreadable},
		"one more behind padding": {bytes.ReplaceAll(bad, scan, []byte("\xff\xff\xda")), ErrUnreadable},
		"the limit and garbage":   {bytes.ReplaceAll(good, scan, []byte("\xff\x00\xff\xd0?\xff\xda")), nil},
		"one more behind garbage": {bytes.ReplaceAll(bad, scan, []byte("\xff\x00\xff\xd0?\xff\xda")), ErrUnreadable},
		"one more and a preview":  {scanned(maxScans+1, preview), ErrUnreadable},
		"a preview":               {scanned(1, preview), nil},
		"a video behind it":       {append(scanned(1), many...), nil},
	} {
		if _, _, err := NewProcessor().Process(t.Context(), c.raw, sizes...); !errors.Is(err, c.want) {
			t.Errorf("Process of a JPEG with %s: error %v, want %v", name, err, c.want)
		}
	}
}

func TestDarkroom_one_at_a_time(t *testing.T) {
	d := NewProcessor()
	d.busy <- struct{}{} // another picture is being processed
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := d.Process(ctx, asJPEG(t, testPicture(9, 9)), sizes...); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("who cannot wait: %v", err)
	}
	<-d.busy
	if _, _, err := d.Process(t.Context(), asJPEG(t, testPicture(9, 9)), sizes...); err != nil {
		t.Error(err)
	}
}

// FuzzDevelop feeds files that are nearly pictures: each is refused with a fault or becomes two pictures.
func FuzzDevelop(f *testing.F) {
	small := testPicture(24, 16)
	f.Add(asJPEG(f, small))
	f.Add(withExif(asJPEG(f, small), tiff(binary.LittleEndian, "II*\x00", 6)))
	f.Add(pngWithExif(asPNG(f, small), tiff(binary.BigEndian, "MM\x00*", 8)))
	f.Add(dot(f))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if format, err := check(raw); err == nil {
			if c, _ := format.config(bytes.NewReader(raw)); c.Width*c.Height > 1<<20 {
				return // large pictures are decoded in the same way, only slower
			}
		}
		id, files, err := process(raw, sizes)
		if err != nil {
			if fault.KindOf(err) != fault.Invalid {
				t.Error(err)
			}
			return
		}
		for _, file := range files {
			if c, err := jpeg.DecodeConfig(bytes.NewReader(file)); err != nil || c.Width > 960 || c.Height > 1920 || len(id) != 32 {
				t.Errorf("size = %v, %v, want at most 960 by 1920, with an id of 32 characters", c, err)
			}
		}
	})
}

// ring returns a red ring on a transparent ground.
func ring(w, h int) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := h / 4; y < h*3/4; y++ {
		for x := w / 4; x < w*3/4; x++ {
			img.SetNRGBA(x, y, color.NRGBA{220, 0, 0, 255})
		}
	}
	return img
}

func asImage(t *testing.T, file []byte) image.Image {
	t.Helper()
	return testenv.Must(png.Decode(bytes.NewReader(file)))(t)
}

func TestProcessLogo(t *testing.T) {
	for _, c := range []struct{ w, h, width, height int }{
		{900, 900, 160, 160}, {1800, 600, 480, 160}, {4000, 400, 480, 48}, {300, 1200, 40, 160}, {20, 10, 20, 10},
	} {
		l := testenv.Must(NewProcessor().ProcessLogo(t.Context(), asPNG(t, ring(c.w, c.h)), 160, 192, 512))(t)
		mark := asImage(t, l.Mark)
		if l.Width != c.width || l.Height != c.height || mark.Bounds().Dx() != c.width || mark.Bounds().Dy() != c.height {
			t.Errorf("%dx%d: the mark has %dx%d, %v", c.w, c.h, l.Width, l.Height, mark.Bounds())
		}
		if _, _, _, a := mark.At(0, 0).RGBA(); a != 0 {
			t.Errorf("%dx%d: the ground is not transparent", c.w, c.h)
		}
		if r, g, _, a := mark.At(c.width/2, c.height/2).RGBA(); r < 0xc000 || g > 0x1000 || a < 0xf000 {
			t.Errorf("%dx%d: the middle is %v", c.w, c.h, mark.At(c.width/2, c.height/2))
		}
		for i, edge := range []int{192, 512} {
			icon := asImage(t, l.Icons[i])
			if icon.Bounds() != image.Rect(0, 0, edge, edge) {
				t.Errorf("an icon of %d has %v", edge, icon.Bounds())
			}
			if r, g, b, a := icon.At(1, 1).RGBA(); r&g&b&a != 0xffff {
				t.Errorf("an icon's ground is %v", icon.At(1, 1))
			}
			if r, g, _, _ := icon.At(edge/2, edge/2).RGBA(); r < 0xc000 || g > 0x1000 {
				t.Errorf("an icon's middle is %v", icon.At(edge/2, edge/2))
			}
		}
	}
}

func TestProcessLogo_refuses(t *testing.T) {
	p := NewProcessor()
	testenv.ErrorIs(t, ErrUnreadable, testenv.Err(p.ProcessLogo(t.Context(), []byte("<svg/>"), 160)), "SVG")
	p.busy <- struct{}{}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	testenv.ErrorIs(t, errBusy, testenv.Err(p.ProcessLogo(ctx, asPNG(t, ring(8, 8)), 160)), "while another is processed")
}
