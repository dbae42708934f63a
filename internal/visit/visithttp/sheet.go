package visithttp

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // the sheet's template, style and texts
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"comanda/internal/catalog"
	"comanda/internal/visit"
)

// The printable sheet of tables' codes: A4, three cards wide and four high, in millimetres. All dimensions are attributes
// of the SVG, so that pages look the same wherever they are shown; the style sheet only controls printing.

//go:embed sheet.html
var sheetText string

//go:embed sheet.css
var sheetStyle string

//go:embed sheet.json
var sheetTexts []byte

var sheetTemplate = template.Must(template.New("sheet").Parse(strings.Replace(sheetText, "/* style */", sheetStyle, 1)))

// sheetCSP allows the sheet's own style and nothing else.
var sheetCSP = func() string {
	sum := sha256.Sum256([]byte(sheetStyle))
	return "default-src 'none'; frame-ancestors 'self'; base-uri 'none'; style-src 'sha256-" +
		base64.StdEncoding.EncodeToString(sum[:]) + "'"
}()

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
	for some := range slices.Chunk(bySection(tables), columns*rows) {
		p := sheetPage{Cuts: cuts(), Warning: warning(words, link(some[0]))}
		for i, t := range some {
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

func newCard(b catalog.Branch, t visit.Table, link string) (card, error) {
	code, err := newQRCode(link)
	if err != nil {
		return card{}, err
	}
	short := strings.TrimPrefix(link, "https://") // not needed when it is typed
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

// warning returns a warning if the codes point to this machine only, where no guest's phone can reach them.
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
