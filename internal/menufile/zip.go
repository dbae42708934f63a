package menufile

import (
	"archive/zip"
	"bytes"
	"io"
	"path"
	"slices"
	"strings"
)

// maxRatio is the maximum ratio of the unpacked to the packed size of a large part. Spreadsheets reach 5 to 30, a ZIP
// bomb up to a thousand.
const (
	maxRatio  = 200
	ratioFrom = 1 << 20 // parts below this size are harmless
	maxParts  = 1000    // entries of an archive
)

const (
	sayBomb    = "The file unpacks to far more than its size and was not opened."
	sayDamaged = "The file is damaged or was cut off. Save it again."
)

// isWorkbook reports whether an archive is an XLSX file.
func isWorkbook(raw []byte) bool {
	z, err := zip.NewReader(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		return true // reported as a damaged workbook
	}
	return slices.ContainsFunc(z.File, func(f *zip.File) bool { return f.Name == "[Content_Types].xml" })
}

// archive reads the entries of a ZIP file within limits. It counts the bytes that it unpacks, because the sizes in the
// file's directory may be wrong.
type archive struct {
	r    *report
	left int64 // bytes that may still be unpacked
}

// open returns the entries of a ZIP file, or nil after reporting a problem.
func (a *archive) open(raw []byte) []*zip.File {
	z, err := zip.NewReader(bytes.NewReader(raw), int64(len(raw)))
	switch {
	case err != nil:
		a.r.filef(Damaged, sayDamaged)
		return nil
	case len(z.File) > maxParts:
		a.r.filef(ZipContent, "The archive has more than %d files.", maxParts)
		return nil
	}
	if slices.ContainsFunc(z.File, func(f *zip.File) bool { return unsafeName(f.Name) }) {
		a.r.filef(ZipName, "The archive contains a file whose name leads out of it.")
		return nil
	}
	return z.File
}

// unsafeName reports whether a name would leave the folder into which an archive is unpacked. Nothing is unpacked to a
// disk, but such an archive was made to do harm.
func unsafeName(name string) bool {
	name = strings.ReplaceAll(name, `\`, "/")
	return strings.HasPrefix(name, "/") || strings.ContainsAny(name, "\x00:") ||
		slices.Contains(strings.Split(name, "/"), "..")
}

// read unpacks an entry of at most limit bytes. ok is false after a report.
func (a *archive) read(f *zip.File, limit int64) (content []byte, ok bool) {
	ok = a.stream(f, limit, func(from io.Reader) error {
		var err error
		content, err = io.ReadAll(from)
		return err //nolint:wrapcheck // only reported as damaged
	})
	return content, ok
}

// stream passes the unpacked content of an entry to use, and then counts the bytes that use has not read. ok is false
// if stream or use has reported a problem.
func (a *archive) stream(f *zip.File, limit int64, use func(io.Reader) error) (ok bool) {
	from, err := f.Open()
	if err != nil {
		a.r.filef(Damaged, sayDamaged)
		return false
	}
	defer func() { _ = from.Close() }()
	limit = min(limit, a.left)
	n := &counter{from: io.LimitReader(from, limit+1)}
	if err = use(n); !a.r.ok() {
		return false
	}
	if err == nil {
		_, err = io.Copy(io.Discard, n)
	}
	a.left -= n.size
	packed := int64(min(f.CompressedSize64, 1<<62))
	switch {
	case n.size > limit, n.size > ratioFrom && n.size > maxRatio*packed:
		a.r.filef(ZipBomb, sayBomb)
		return false
	case err != nil:
		a.r.filef(Damaged, sayDamaged)
		return false
	}
	return true
}

// counter counts the bytes that are read through it.
type counter struct {
	from io.Reader
	size int64
}

func (c *counter) Read(b []byte) (int, error) {
	n, err := c.from.Read(b)
	c.size += int64(n)
	return n, err //nolint:wrapcheck // passed on
}

// unpack returns the one menu file of an archive, and its pictures by their name without folder.
func unpack(raw []byte, r *report) (menu []byte, pictures map[string][]byte) {
	a := &archive{r, MaxArchive}
	pictures = map[string][]byte{}
	menus := 0
	for _, f := range a.open(raw) {
		name := path.Base(strings.ReplaceAll(f.Name, `\`, "/"))
		if strings.HasSuffix(f.Name, "/") || strings.HasPrefix(name, ".") || strings.HasPrefix(f.Name, "__MACOSX/") {
			continue // folders, and files that operating systems add
		}
		extension := strings.ToLower(path.Ext(name))
		isMenu := extension == ".csv" || extension == ".xlsx"
		limit := int64(MaxPicture)
		if isMenu {
			limit = MaxFile
		}
		content, ok := a.read(f, limit)
		switch {
		case !ok:
			return nil, nil
		case isMenu:
			menu = content
			menus++
		case pictures[name] != nil:
			r.filef(ZipContent, "The archive has two files named %q.", name)
			return nil, nil
		default:
			pictures[name] = content
		}
	}
	switch {
	case !r.ok():
	case menus != 1:
		r.filef(ZipContent, "The archive must have exactly one .csv or .xlsx file; it has %d.", menus)
	case len(pictures) > MaxPictures:
		r.filef(ZipContent, "The archive can have at most %d pictures.", MaxPictures)
	}
	return menu, pictures
}
