package httpapi

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // the page's template, style, script and texts
	"encoding/base64"
	"encoding/json"
	"html/template"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// Page is an HTML page for a browser outside of the apps. It needs neither scripts nor further requests, so a server
// without apps can show it.
type Page struct {
	Status   int    // 0 means 200
	Language string // BCP 47
	Label    string // shown above the heading and as the title; if empty the heading is the title
	Heading  string
	Tone     string // good or bad sets the colour of the heading
	Facts    []PageFact
	Hint     string
	Links    []PageLink  // the first is the primary action
	Refresh  int         // seconds until the page reloads if it has changed, or in any case without scripts; 0 means never
	House    House       // if it is zero, the server's, see SetHouse
	Return   *PageReturn // nil means no redirect
}

// House is the restaurant's name and brand. The zero House shows only a mark.
type House struct {
	Name  string
	Logo  string       // path of a square PNG on this server
	Style template.CSS // the style sheet that replaces the accent colours of page.css
}

// PageFact is a name and a value on the page, such as an amount.
type PageFact struct{ Name, Value string }

// PageLink is a link or button.
type PageLink struct{ Text, URL string }

// PageReturn redirects the browser to URL if its local storage contains Key, which means that an app is open there that
// shows more than the page. Other browsers, and those without scripts, stay.
type PageReturn struct{ Key, URL string }

var (
	//go:embed page.html
	pageText string
	//go:embed page.css
	pageStyle string
	// page.js has no comments, because html/template removes them, and its hash would differ. A page that waits asks every
	// Refresh seconds whether it is decided, and reloads only then: a reload makes a screen reader start again.
	//
	//go:embed page.js
	pageScript string
	//go:embed page.json
	pageTexts []byte
)

var pageTemplate = template.Must(template.New("page").Parse(
	strings.NewReplacer("/* style */", pageStyle, "/* script */", pageScript).Replace(pageText)))

// pageCSP allows the page's own script and style only, see policy.
var pageCSP = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; script-src " + SourceHash(pageScript) +
	"; style-src " + SourceHash(pageStyle)

// policy returns the content security policy of a page with the restaurant's style and logo.
func (h House) policy() string {
	csp := pageCSP // ends with the style's sources
	if h.Style != "" {
		csp += " " + SourceHash(string(h.Style))
	}
	if h.Logo != "" {
		csp += "; img-src 'self'"
	}
	return csp
}

// SourceHash returns the CSP hash of an inline script or style (Content Security Policy Level 3, section 2.3.1).
func SourceHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// Write writes the page. The response must not have started.
func (p Page) Write(w http.ResponseWriter) error {
	if x, ok := w.(*exchange); ok && p.House == (House{}) {
		p.House = x.route.s.currentHouse()
	}
	// The template is executed into memory first, because an error must not leave an incomplete page with status 200.
	var body bytes.Buffer
	if err := pageTemplate.Execute(&body, p); err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	csp := p.House.policy()
	if p.Refresh != 0 {
		csp += "; connect-src 'self'" // the page checks whether it has changed
	}
	h.Set("Content-Security-Policy", csp)
	h.Set("Content-Length", strconv.Itoa(body.Len()))
	// The response to the URL depends on these headers: a problem for programs, a page in the browser's language.
	h.Set("Vary", "Accept, Accept-Language")
	if p.Status != 0 {
		w.WriteHeader(p.Status)
	}
	_, _ = w.Write(body.Bytes()) // the client may have disconnected
	return nil
}

type missingWords struct {
	Missing string `json:"missing"`
	Hint    string `json:"hint"`
	Home    string `json:"home"`
}

// missingTexts returns the texts of the page for unknown paths, by locale.
var missingTexts = func() (all map[string]missingWords) {
	if err := json.Unmarshal(pageTexts, &all); err != nil {
		panic(err) // embedded file: a programming error
	}
	return all
}()

// missing responds to a browser that opens an unknown address with a page in its language.
func (x *exchange) missing(r *http.Request, p *Problem) {
	language := Locale(r.Header.Get("Accept-Language"), "en", "vi", "zh-TW")
	words := missingTexts[language]
	page := Page{Status: p.Status, Language: language, Heading: words.Missing, Tone: "bad", Hint: words.Hint}
	if x.route.s.hasHome() {
		page.Links = []PageLink{{words.Home, "/"}}
	}
	_ = x.note(p) // note returns its argument
	if page.Write(x) != nil {
		x.fail(p)
	}
}

// wantsPage reports whether the request is a browser navigation. Programs do not accept HTML.
func wantsPage(r *http.Request) bool {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return false
	}
	for part := range strings.SplitSeq(r.Header.Get("Accept"), ",") {
		mediaType, params, _ := strings.Cut(part, ";")
		if strings.EqualFold(strings.TrimSpace(mediaType), "text/html") && quality(params) > 0 {
			return true
		}
	}
	return false
}

// SetHouse sets the restaurant that pages show. It may be called while the server runs.
func (s *Server) SetHouse(h House) { s.house.Store(&h) }

func (s *Server) currentHouse() House {
	if h := s.house.Load(); h != nil {
		return *h
	}
	return House{}
}

// hasHome reports whether there is a start page; a server without apps has none.
func (s *Server) hasHome() bool {
	_, pattern := s.mux.Handler(&http.Request{Method: http.MethodGet, URL: &url.URL{Path: "/"}})
	return pattern != ""
}
