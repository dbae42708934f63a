package sim

import (
	"bytes"
	"crypto/rand"
	_ "embed"
	"encoding/json"
	"html/template"
	"io/fs"
	"net/http"
	"net/url"
	"strings"
)

//go:embed page.html
var layout string

// Page is the payment page of a gateway: the common layout with the gateway's own blocks, and texts in two languages.
// It is not changed after NewPage and is safe for concurrent use.
type Page struct {
	html  *template.Template
	texts map[string]map[string]string
}

// View is the data that the layout shows. A gateway embeds it in the data of its own blocks.
type View struct {
	Lang, Other, OtherName string
	Switch                 string // URL of the page in the other language
	Nonce                  string // nonce of the style, for the content security policy
	Text                   map[string]string
	Message                string // replaces the buttons; empty while the payment is undecided
	Back                   string // the return URL once the payment is decided
	Code                   string // error code, which is shown without a purchase
}

// NewPage returns a page from a gateway's page.html, which has the blocks "style", "purchase" and "actions", and texts.json,
// which has the texts by language and name. Names in capitals are messages that replace the buttons. It panics if either is
// malformed, because both are embedded.
func NewPage(files fs.FS) *Page {
	html := template.Must(template.New("layout").Parse(layout))
	p := &Page{html: template.Must(html.ParseFS(files, "page.html")).Lookup("layout")}
	texts, err := fs.ReadFile(files, "texts.json")
	if err == nil {
		err = json.Unmarshal(texts, &p.texts)
	}
	if err != nil {
		panic("sim: " + err.Error())
	}
	return p
}

// Texts returns the texts of a language.
func (p *Page) Texts(lang string) map[string]string { return p.texts[lang] }

// View returns a view in the language that the guest selected, or else the merchant's.
func (p *Page) View(r *http.Request, merchants string) View {
	q := r.URL.Query()
	// An unknown language is ignored instead of refused: the parameter is not part of the signed URL.
	lang := q.Get("lang")
	if p.texts[lang] == nil {
		lang = merchants
	}
	v := View{Lang: lang, Text: p.texts[lang], Nonce: rand.Text()}
	for other := range p.texts {
		if other != lang {
			v.Other, v.OtherName = other, p.texts[other]["name"]
		}
	}
	// Other parameters stay, because a pay URL contains the whole signed purchase.
	q.Set("lang", v.Other)
	v.Switch = "?" + q.Encode()
	return v
}

// Write sends the page. Its content security policy allows its own style and its form. merchants are return URLs: their
// origins are part of form-action, because browsers also apply it to the redirect that follows a form.
func (p *Page) Write(w http.ResponseWriter, status int, v View, data any, merchants ...string) {
	var page bytes.Buffer
	// The page is rendered into memory first, so that after a failure the status can still be an error.
	if err := p.html.Execute(&page, data); err != nil {
		http.Error(w, "page", http.StatusInternalServerError)
		return
	}
	forms := []string{"'self'"}
	for _, address := range merchants {
		if u, err := url.Parse(address); err == nil {
			forms = append(forms, u.Scheme+"://"+u.Host)
		}
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'nonce-"+v.Nonce+"'; base-uri 'none'; "+
		"frame-ancestors 'none'; form-action "+strings.Join(forms, " "))
	w.WriteHeader(status)
	_, _ = page.WriteTo(w) // the browser may have disconnected
}
