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

// Page is a page of HTML for a browser that has left the apps or never was in one. It works without scripts and without
// another request, so that it can be shown by a server that has no app.
type Page struct {
	Status   int    // 0 is 200
	Language string // BCP 47
	Label    string // above the heading, and the title; empty where the heading is the title
	Heading  string
	Tone     string // good or bad colours the heading; empty does not
	Facts    []PageFact
	Hint     string
	Links    []PageLink  // the first one is what most people want
	Refresh  int         // seconds after which the page is asked for again; 0 never
	Return   *PageReturn // nil stays
}

// PageFact is something that the page states, such as an amount.
type PageFact struct{ Name, Value string }

// PageLink leads on.
type PageLink struct{ Text, URL string }

// PageReturn sends the browser on to URL at once if it keeps something under Key in its local storage: such a browser
// has an app open that shows more than the page may. A browser that keeps nothing, or runs no scripts, stays.
type PageReturn struct{ Key, URL string }

var (
	//go:embed page.html
	pageText string
	//go:embed page.css
	pageStyle string
	//go:embed page.js
	pageScript string
	//go:embed page.json
	pageTexts []byte
)

var pageTemplate = template.Must(template.New("page").Parse(
	strings.NewReplacer("/* style */", pageStyle, "/* script */", pageScript).Replace(pageText)))

// pageCSP lets the page run its own script and style, and nothing else.
var pageCSP = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; style-src " + sourceHash(pageStyle) +
	"; script-src " + sourceHash(pageScript)

// sourceHash names an inline script or style (Content Security Policy Level 3, section 2.3.1).
func sourceHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// Write answers with the page. The answer must not have begun.
func (p Page) Write(w http.ResponseWriter) error {
	var body bytes.Buffer
	if err := pageTemplate.Execute(&body, p); err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", pageCSP)
	h.Set("Content-Length", strconv.Itoa(body.Len()))
	h.Set("Vary", "Accept, Accept-Language")
	if p.Status != 0 {
		w.WriteHeader(p.Status)
	}
	_, _ = w.Write(body.Bytes()) // a browser that has gone needs no answer
	return nil
}

type missingWords struct {
	Missing string `json:"missing"`
	Hint    string `json:"hint"`
	Home    string `json:"home"`
}

// missingTexts are the texts of the page for unknown paths, by locale.
var missingTexts = func() (all map[string]missingWords) {
	if err := json.Unmarshal(pageTexts, &all); err != nil {
		panic(err) // a defect of the program, found by its first test
	}
	return all
}()

// missing answers a browser that opens an address of nothing: with a page and a way on, in its language.
func (x *exchange) missing(r *http.Request, p *Problem) {
	language := Locale(r.Header.Get("Accept-Language"), "en", "vi", "zh-TW")
	words := missingTexts[language]
	page := Page{Status: p.Status, Language: language, Heading: words.Missing, Tone: "bad", Hint: words.Hint}
	if x.route.s.hasHome() {
		page.Links = []PageLink{{words.Home, "/"}}
	}
	_ = x.note(p) // it gives back what it notes
	if page.Write(x) != nil {
		x.fail(p)
	}
}

// wantsPage reports whether a request is a browser's that opens an address. Programs do not name HTML.
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

// hasHome reports whether there is a start page: a server without an app has none.
func (s *Server) hasHome() bool {
	_, pattern := s.mux.Handler(&http.Request{Method: http.MethodGet, URL: &url.URL{Path: "/"}})
	return pattern != ""
}
