package visithttp

import (
	"bytes"
	"context"
	_ "embed" // the sheet's template, style and texts
	"encoding/json"
	"fmt"
	"html/template"
	"image/color"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/boombuler/barcode/qr"
	"github.com/danielgtaylor/huma/v2"

	"comanda/internal/authz"
	"comanda/internal/catalog"
	"comanda/internal/fault"
	"comanda/internal/httpapi"
	"comanda/internal/visit"
)

// The printable sheet of tables' codes: A4, three cards wide and four high, in millimetres. All dimensions are
// attributes of the SVG, so that pages look the same in every browser; the style sheet only controls printing.

//go:embed sheet.html
var sheetText string

//go:embed sheet.css
var sheetStyle string

//go:embed sheet.json
var sheetTexts []byte

var sheetTemplate = template.Must(template.New("sheet").Parse(strings.Replace(sheetText, "/* style */", sheetStyle, 1)))

// sheetCSP allows the sheet's own style and nothing else.
var sheetCSP = "default-src 'none'; frame-ancestors 'self'; base-uri 'none'; style-src " + httpapi.SourceHash(sheetStyle)

// sheetWords has the texts of a sheet in one language. Languages that the staff do not use only have the guests' hint.
type sheetWords struct {
	Scan    string `json:"scan"`
	Title   string `json:"title"`
	Printed string `json:"printed"`
	Warning string `json:"warning"`
}

var sheetWordsIn = func() (w map[catalog.Locale]sheetWords) {
	if err := json.Unmarshal(sheetTexts, &w); err != nil {
		panic(err) // a malformed embedded file; every test would fail
	}
	return w
}()

// Dimensions in millimetres.
const (
	columns, rows       = 3, 4
	cardWide, cardHigh  = 190.0 / columns, 69.0
	marginX, marginY    = 10.0, 10.0
	codeWide            = 42.0 // with the quiet zone; without it 30.4 for the smallest code, more for others
	labelSize, linkSize = 9.0, 2.6
	textWide            = 58.0
	sectionSize         = 2.4
	maxHints            = 3
	firstHint, nextHint = 56.6, 3.4
)

type sheetPage struct {
	Cuts, Foot, Warning string
	Cards               []card
}

type card struct {
	X, Y, LabelSize, LinkSize float64
	Inset, Width              float64
	Section, Label            string
	SectionSize               float64
	Link, Path                string
	Side                      int
	Hints                     []hint
}

type hint struct {
	Y        float64
	Language catalog.Locale
	Text     string
}

// sheet renders the cards of a branch's tables, those of a section together. link returns the content of a table's QR code.
func sheet(b catalog.Branch, tables []visit.Table, link func(visit.Table) string, now time.Time) ([]byte, error) {
	language := b.Locales[0]
	if sheetWordsIn[language].Title == "" {
		language = catalog.English
	}
	words := sheetWordsIn[language]
	var pages []sheetPage
	for chunk := range slices.Chunk(bySection(tables), columns*rows) {
		p := sheetPage{Cuts: cuts(), Warning: warning(words, link(chunk[0]))}
		for i, t := range chunk {
			c, err := newCard(b, t, link(t))
			if err != nil {
				return nil, err
			}
			c.X, c.Y = round(marginX+float64(i%columns)*cardWide), marginY+float64(i/columns)*cardHigh
			p.Cards = append(p.Cards, c)
		}
		pages = append(pages, p)
	}
	day := now.In(b.Calendar().Zone()).Format(time.DateOnly)
	for i := range pages {
		pages[i].Foot = b.Name + " · " + strings.NewReplacer(
			"{date}", day, "{page}", strconv.Itoa(i+1), "{pages}", strconv.Itoa(len(pages))).Replace(words.Printed)
	}
	var body bytes.Buffer
	err := sheetTemplate.Execute(&body, struct {
		Language catalog.Locale
		Title    string
		Pages    []sheetPage
	}{language, words.Title + " · " + b.Name, pages})
	return body.Bytes(), err
}

// bySection returns tables by section, in the order of each section's first table.
func bySection(tables []visit.Table) []visit.Table {
	first := map[string]int{}
	for i, t := range tables {
		if _, ok := first[t.Section]; !ok {
			first[t.Section] = i
		}
	}
	return slices.SortedStableFunc(slices.Values(tables), func(a, b visit.Table) int {
		return first[a.Section] - first[b.Section]
	})
}

// newCard lays out the card of a table: its label, its QR code, and hints in the first languages of the branch.
func newCard(b catalog.Branch, t visit.Table, link string) (card, error) {
	code, err := newQRCode(link)
	if err != nil {
		return card{}, err
	}
	short := strings.TrimPrefix(link, "https://") // people who type the link can omit the scheme
	c := card{
		Section: t.Section, SectionSize: fitting(t.Section, sectionSize),
		Label: t.Label, LabelSize: fitting(t.Label, labelSize), Link: short, LinkSize: fitting(short, linkSize),
		Inset: round((cardWide - codeWide) / 2), Width: codeWide, Side: code.side(), Path: code.path(),
	}
	for _, l := range b.Locales[:min(maxHints, len(b.Locales))] {
		c.Hints = append(c.Hints, hint{round(firstHint + nextHint*float64(len(c.Hints))), l, sheetWordsIn[l].Scan})
	}
	return c, nil
}

// fitting returns the font size at which a text fits on a card. It assumes the letter widths of a monospace font, and
// nearly twice that beyond Latin letters.
func fitting(text string, size float64) float64 {
	wide := 0.0
	for _, r := range text {
		wide += 0.6
		if r > 0x2e00 {
			wide += 0.5
		}
	}
	return round(min(size, textWide/wide))
}

// cuts returns the cut marks as an SVG path: ticks in the margin at the ends of each cutting line, and crosses where
// lines meet.
func cuts() string {
	var b strings.Builder
	for i := range columns + 1 {
		x := round(marginX + float64(i)*cardWide)
		fmt.Fprintf(&b, "M%[1]g 3v4M%[1]g %[2]gv-1", x, marginY)
		fmt.Fprintf(&b, "M%[1]g %[2]gv1", x, marginY+rows*cardHigh)
		for j := 1; j < rows; j++ {
			fmt.Fprintf(&b, "M%g %gv2m-1 -1h2", x, marginY+float64(j)*cardHigh-1)
		}
	}
	for j := range rows + 1 {
		y := marginY + float64(j)*cardHigh
		fmt.Fprintf(&b, "M3 %[1]gh4M207 %[1]gh-4", y)
	}
	return b.String()
}

// warning returns a warning if the codes contain an address of this machine, which no guest's phone can reach.
func warning(words sheetWords, link string) string {
	u, err := url.Parse(link)
	if err != nil {
		return ""
	}
	if ip := net.ParseIP(u.Hostname()); u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return ""
	}
	return strings.ReplaceAll(words.Warning, "{url}", u.Scheme+"://"+u.Host)
}

// round rounds to hundredths of a millimetre.
func round(mm float64) float64 { return float64(int(mm*100+0.5)) / 100 }

// quietZone is the white border of a QR code in modules, which readers need to find it (ISO/IEC 18004, section 6.3.8).
const quietZone = 4

// qrCode is a QR code as a grid of modules.
type qrCode struct {
	size  int // modules per side, without the quiet zone
	black func(x, y int) bool
}

// newQRCode returns the smallest QR code of a text. Level M restores 15 % of the modules, enough for a stain on the
// table.
func newQRCode(text string) (qrCode, error) {
	b, err := qr.Encode(text, qr.M, qr.Auto)
	if err != nil {
		return qrCode{}, fmt.Errorf("draw a code: %w", err)
	}
	return qrCode{b.Bounds().Dx(), func(x, y int) bool {
		grey, _ := color.GrayModel.Convert(b.At(x, y)).(color.Gray)
		return grey.Y < 128
	}}, nil
}

// side returns the width in modules, including the quiet zone.
func (c qrCode) side() int { return c.size + 2*quietZone }

// path returns the black modules as an SVG path in units of a module, offset by the quiet zone. Each run of a row is
// one rectangle, because gaps between single squares would show in print.
func (c qrCode) path() string {
	var b bytes.Buffer
	for y := range c.size {
		for x := 0; x < c.size; x++ {
			run := 0
			for x+run < c.size && c.black(x+run, y) {
				run++
			}
			if run > 0 {
				fmt.Fprintf(&b, "M%d %dh%dv1h-%dz", x+quietZone, y+quietZone, run, run)
				x += run
			}
		}
	}
	return b.String()
}

// svg returns the code as an SVG image.
func (c qrCode) svg() []byte {
	return fmt.Appendf(nil, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %[1]d %[1]d" width="60mm" height="60mm" `+
		`shape-rendering="crispEdges" role="img" aria-label="QR"><path fill="#fff" d="M0 0h%[1]dv%[1]dh-%[1]dz"/>`+
		`<path d="%[2]s"/></svg>`+"\n", c.side(), c.path())
}

func (s *staff) registerCodes(a *httpapi.API) {
	ops := a.Operations("Codes", httpapi.Staff) // a permission module of its own, because a code admits guests
	httpapi.RegisterOutput(ops, "staff-table-sheet", "GET /api/tables/qr-sheet",
		"Print the tables' QR codes on A4 sheets to cut", s.sheet, binary("text/html", "The sheet as an HTML page."))
	httpapi.RegisterOutput(ops, "staff-table-code", "GET /api/tables/{id}/qr.svg",
		"Download the QR code of a table as an image", s.code, binary("image/svg+xml", "The QR code with its quiet zone."))
}

// binary describes a body of bytes for the OpenAPI document, which cannot derive it.
func binary(mediaType, description string) httpapi.Option {
	schema := &huma.Schema{Type: huma.TypeString}
	return func(op *huma.Operation) {
		op.Responses = map[string]*huma.Response{"200": {
			Description: description, Content: map[string]*huma.MediaType{mediaType: {Schema: schema}},
		}}
	}
}

type sheetIn struct {
	BranchID int64   `query:"branchId" required:"true" minimum:"1"`
	TableIDs []int64 `query:"tableIds" maxItems:"200" doc:"Comma-separated; all tables in use if omitted."`
	Preview  bool    `query:"preview" doc:"Only to look at; else the audit log records that the codes were printed."`
}

type codeIn struct {
	httpapi.ByID
	Preview bool `query:"preview" doc:"Only to look at or scan; else the audit log records that the code was printed."`
}

// secretFile is a file that contains QR tokens and must not be cached.
type secretFile struct {
	ContentType  string `header:"Content-Type"`
	CacheControl string `header:"Cache-Control"`
	CSP          string `header:"Content-Security-Policy"`
	Disposition  string `header:"Content-Disposition"`
	Body         []byte
}

func (s *staff) sheet(ctx context.Context, in *sheetIn) (*secretFile, error) {
	codes := s.floor.PrintCodes
	if in.Preview {
		codes = s.floor.Codes
	}
	b, tables, err := codes(ctx, authz.ActorOf(ctx), in.BranchID, in.TableIDs)
	if err != nil {
		return nil, err
	}
	body, err := sheet(b, tables, s.link, s.floor.Now())
	if err != nil {
		return nil, fault.Wrap("draw a sheet of codes", err)
	}
	return &secretFile{"text/html; charset=utf-8", "no-store", sheetCSP, `inline; filename="tables.html"`, body}, nil
}

func (s *staff) code(ctx context.Context, in *codeIn) (*secretFile, error) {
	code := s.floor.PrintCode
	if in.Preview {
		code = s.floor.Code
	}
	t, err := code(ctx, authz.ActorOf(ctx), in.ID)
	if err != nil {
		return nil, err
	}
	c, err := newQRCode(s.link(t))
	if err != nil {
		return nil, fault.Wrap("draw a code", err)
	}
	return &secretFile{
		"image/svg+xml", "no-store", "default-src 'none'; frame-ancestors 'none'",
		`inline; filename="table-` + httpapi.FormatID(t.ID) + `.svg"`,
		c.svg(),
	}, nil
}
