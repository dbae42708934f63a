// Package site serves the public pages of the restaurant: its start page with branches and opening hours, a readable
// menu of each branch, and the files that search engines request. The pages are rendered by the server, in the
// language of the browser or of the parameter lang, and need no script.
//
// They show only published menus and the content of the brand.
package site

import (
	"bytes"
	"cmp"
	"context"
	_ "embed" // the template, style and texts of the pages
	"encoding/json"
	"encoding/xml"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"comanda/internal/brand"
	"comanda/internal/catalog"
	"comanda/internal/fault"
	"comanda/internal/httpapi"
	"comanda/internal/seq"
	"comanda/internal/tagcache"
	"comanda/internal/text"
	"comanda/internal/web"
)

var (
	//go:embed page.html
	pageText string
	//go:embed page.css
	pageStyle string
	//go:embed texts.json
	textsJSON []byte
)

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// words are the texts of the pages in one language.
type words struct {
	Name         string   `json:"name"`
	Language     string   `json:"language"`
	Skip         string   `json:"skip"`
	Branches     string   `json:"branches"`
	Menu         string   `json:"menu"`
	SeeMenu      string   `json:"seeMenu"`
	AtHome       string   `json:"home"`
	Table        string   `json:"table"`
	Hours        string   `json:"hours"`
	OpenNow      string   `json:"openNow"`
	Until        string   `json:"until"`
	Opens        string   `json:"opens"`
	Closed       string   `json:"closed"`
	AllHours     string   `json:"allHours"`
	Paused       string   `json:"paused"`
	Start        string   `json:"start"`
	Empty        string   `json:"empty"`
	Describe     string   `json:"describe"`
	DescribeMenu string   `json:"describeMenu"`
	House        string   `json:"house"`
	Special      string   `json:"special"`
	Date         string   `json:"date"` // pattern of {day}, {d}, {m} and {month}
	Days         []string `json:"days"` // from Sunday, as package time counts them
	Months       []string `json:"months"`
}

var texts = func() (all map[string]words) {
	if err := json.Unmarshal(textsJSON, &all); err != nil {
		panic(err) // embedded file: a programming error
	}
	return all
}()

// languages are the languages of the guest app, as BCP 47 tags, with the locale that the catalog has for each.
var languages = []language{{"en", catalog.English}, {"vi", catalog.Vietnamese}, {"zh-Hant", catalog.Chinese}}

type language struct {
	tag    string
	locale catalog.Locale
}

// PublicPages serves the pages. It is safe for concurrent use if its functions are.
type PublicPages struct {
	Branches func(ctx context.Context) ([]catalog.Branch, error)
	Menu     func(ctx context.Context, branch int64) (*catalog.Snapshot, error) // the published one
	BySlug   func(ctx context.Context, slug string) (branch int64, err error)   // accepts former slugs too; 0 for none
	Brand    func() brand.Brand
	URL      func() string // the public URL of the restaurant
	HasShop  bool          // guests can order from home
	Now      func() time.Time
	Cache    *tagcache.Cache // of rendered pages; nil renders each
}

// Register adds the pages.
func Register(a *httpapi.API, s *PublicPages) {
	for pattern, h := range map[string]func(http.ResponseWriter, *http.Request) error{
		"GET /{$}": s.home, "GET /menu/{branch}": s.menu, "GET /robots.txt": s.robots, "GET /sitemap.xml": s.sitemap,
	} {
		a.Handle(httpapi.Route{Pattern: pattern, Policy: httpapi.Public, Handler: http.HandlerFunc(
			func(w http.ResponseWriter, r *http.Request) {
				if err := h(w, r); err != nil {
					httpapi.Fail(w, r, err)
				}
			})})
	}
}

// view is the data of the template.
type view struct {
	Lang, Title, Description, Canonical string
	Alternates, Languages               []link
	House, Home, Icon, Image            string
	Logo, Cover                         *picture
	T                                   words
	CSS                                 template.CSS
	Data                                any // schema.org

	Heading, Text, Shop, Address, Phone, Dial string
	Branches                                  []branchView
	Branch                                    *menuView
}

type link struct{ Lang, URL, Name string }

type picture struct {
	URL, Large    string
	Width, Height int
}

type branchView struct {
	Name, State, Menu string
	Hours, Special    []hoursView
}

type hoursView struct{ Day, Times, Note string }

// page is the state of one request: its visitor's language, the brand and the branches.
type page struct {
	*PublicPages
	r      *http.Request
	t      words
	tag    string
	locale catalog.Locale
	named  bool // by the parameter lang
	brand  brand.Brand
	house  string
	all    []catalog.Branch
}

// page returns what all public pages have in common: the language of the visitor, the brand and the branches.
func (s *PublicPages) page(r *http.Request) (page, error) {
	p := page{PublicPages: s, r: r, brand: s.Brand()}
	all, err := s.Branches(r.Context())
	if err != nil {
		return p, err
	}
	p.all = all
	// The first language is that of visitors whose browser requests none of the languages: the first one of the first
	// branch.
	have := seq.Map(languages, func(l language) string { return l.tag })
	if len(all) > 0 {
		if i := slices.IndexFunc(languages, func(l language) bool { return l.locale == all[0].Locales[0] }); i >= 0 {
			have = append([]string{languages[i].tag}, have...)
		}
	}
	p.tag = r.URL.Query().Get("lang")
	p.named = slices.Contains(have, p.tag)
	if !p.named {
		p.tag = httpapi.Locale(r.Header.Get("Accept-Language"), have...)
	}
	for _, l := range languages {
		if l.tag == p.tag {
			p.locale = l.locale
		}
	}
	p.t = texts[p.tag]
	p.house = p.brand.Name
	if p.house == "" && len(all) > 0 {
		p.house = all[0].Name
	}
	p.house = cmp.Or(p.house, p.t.House)
	return p, nil
}

// path returns the path of a page in the language that the visitor has chosen, if any.
func (p page) path(path string) string {
	if p.named {
		return path + "?lang=" + p.tag
	}
	return path
}

// view returns the data of the frame around a page. Search engines need the canonical address and the one of each
// language; otherwise they rank the languages of a page against each other.
func (p page) view(path, title, description string) view {
	base := p.URL()
	v := view{
		Lang: p.tag, Title: title, Description: description, Canonical: base + p.path(path), House: p.house, Home: p.path("/"),
		T: p.t, Icon: "/app/icon.svg",
		CSS:        template.CSS(pageStyle + p.brand.Style()), //nolint:gosec // the brand has checked its colours
		Alternates: []link{{Lang: "x-default", URL: base + path}},
	}
	for _, l := range languages {
		v.Alternates = append(v.Alternates, link{Lang: l.tag, URL: base + path + "?lang=" + l.tag})
		v.Languages = append(v.Languages, link{Lang: l.tag, URL: path + "?lang=" + l.tag, Name: texts[l.tag].Name})
	}
	if l := p.brand.Logo; l != nil {
		v.Logo, v.Icon = &picture{URL: l.URL(brand.LogoMark), Width: l.Width, Height: l.Height}, l.URL(brand.IconSmall)
		v.Image = base + l.URL(brand.IconLarge)
	}
	if c := p.brand.Cover; c != nil {
		v.Cover = &picture{c.URL(brand.CoverSmall), c.URL(brand.CoverLarge), c.Width, c.Height}
		v.Image = base + c.URL(brand.CoverLarge)
	}
	return v
}

// home serves the start page.
func (s *PublicPages) home(w http.ResponseWriter, r *http.Request) error {
	p, err := s.page(r)
	if err != nil {
		return err
	}
	return p.serve(w, 0, "/", nil, p.homeView)
}

// homeView returns the start page.
func (p page) homeView(ctx context.Context) (view, error) {
	v := p.view("/", p.house, fmt.Sprintf(p.t.Describe, p.house))
	v.Heading, v.Text = cmp.Or(p.brand.Title.In(p.locale), p.house), p.brand.Text.In(p.locale)
	v.Address, v.Phone, v.Dial = p.brand.Address, p.brand.Phone, phoneDigits(p.brand.Phone)
	if p.HasShop && len(p.all) > 0 {
		v.Shop = "/shop"
	}
	var data []any
	for _, b := range p.all {
		shown := branchView{Name: b.Name, State: p.state(b), Hours: p.hours(b), Special: p.specialHours(b)}
		_, err := p.Menu(ctx, b.ID)
		switch {
		case err == nil:
			shown.Menu = p.path(menuPath(b))
		case fault.KindOf(err) != fault.NotFound: // without a published menu there is none to link to
			return v, err
		}
		v.Branches = append(v.Branches, shown)
		data = append(data, p.restaurant(b, shown.Menu))
	}
	v.Data = map[string]any{"@context": "https://schema.org", "@graph": data}
	return v, nil
}

// menuPath returns the path of a branch's menu.
func menuPath(b catalog.Branch) string {
	return "/menu/" + url.PathEscape(cmp.Or(b.Slug, httpapi.FormatID(b.ID)))
}

// menu serves the menu of a branch. Its id and its former slugs redirect to the current slug, permanently for search
// engines. Browsers must revalidate the redirect, because a branch may get a former name again.
func (s *PublicPages) menu(w http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("branch")
	id, err := httpapi.ParseID(name)
	if err != nil {
		if id, err = s.BySlug(r.Context(), text.Slug(name, maxName)); err != nil {
			return err
		}
		if id == 0 {
			return catalog.ErrBranch
		}
	}
	m, err := s.Menu(r.Context(), id)
	if err != nil {
		return err
	}
	if m.Branch.Slug != "" && m.Branch.Slug != name {
		to := url.URL{RawQuery: r.URL.RawQuery}
		w.Header().Set("Cache-Control", "no-cache")
		http.Redirect(w, r, menuPath(m.Branch)+to.String(), http.StatusPermanentRedirect)
		return nil
	}
	p, err := s.page(r)
	if err != nil {
		return err
	}
	return p.serve(w, id, menuPath(m.Branch), m, func(context.Context) (view, error) {
		title := p.t.Menu + " · " + m.Branch.Name
		if m.Branch.Name != p.house {
			title += " · " + p.house
		}
		v := p.view(menuPath(m.Branch), title, fmt.Sprintf(p.t.DescribeMenu, m.Branch.Name))
		shown, data := p.menuOf(m)
		v.Branch, v.Data = &shown, data
		return v, nil
	})
}

// pageLife is how long a rendered page is served. Pages show whether a branch is open, so a page may be this late.
const pageLife = time.Minute

// rendered is a page as it is cached.
type rendered struct {
	Body  string `json:"body"`
	Style string `json:"style"` // its hash in the content security policy
}

// serve serves a page from the cache, or renders it. Its name contains everything that it shows, by content or by revision:
// the brand, the branches and the menu. So a changed menu has another name in every process at once.
func (p page) serve(
	w http.ResponseWriter, branch int64, path string, menu *catalog.Snapshot, view func(context.Context) (view, error),
) error {
	shown, err := json.Marshal(struct { //nolint:musttag // only compared
		Brand    brand.Brand
		Branches []catalog.Branch
	}{p.brand, p.all})
	if err != nil {
		return fault.Wrap("name of a cached page", err)
	}
	parts := []string{path, p.tag, strconv.FormatBool(p.named), p.URL(), string(shown)}
	if menu != nil {
		parts = append(parts, strconv.FormatInt(menu.Branch.Revision, 10), strconv.FormatInt(menu.VersionID, 10))
	}
	e := tagcache.NewEntry(tagcache.Branches, tagcache.Detail, branch, tagcache.DateRange{}, parts...)
	got, err := tagcache.Value(p.r.Context(), p.Cache, e, pageLife, func(ctx context.Context) (rendered, error) {
		v, err := view(ctx)
		if err != nil {
			return rendered{}, err
		}
		return v.render()
	})
	if err != nil {
		return err
	}
	// The policy admits the page's style and no script. It admits connections to this server because tools that check pages
	// for search engines fetch robots.txt from within the page.
	web.Rendered{
		MediaType: "text/html; charset=utf-8", Vary: "Accept-Encoding, Accept-Language", Body: []byte(got.Body),
		Policy: "default-src 'none'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; " +
			"frame-ancestors 'none'; style-src " + got.Style,
	}.ServeHTTP(w, p.r)
	return nil
}

// render renders the page.
func (v view) render() (rendered, error) {
	var body bytes.Buffer
	err := pageTemplate.Execute(&body, v)
	return rendered{body.String(), httpapi.SourceHash(string(v.CSS))}, err
}

// maxName bounds the slug that is looked up.
const maxName = 100

// private are the paths that search engines must not index: pages of guests and staff, and routes for programs. A path
// covers all that begin with it (RFC 9309), and "/me" would cover "/menu/". A "$" is the end.
var private = []string{
	"/app", "/api/", "/auth/", "/cis/", "/console", "/docs", "/m/", "/me$", "/me/", "/orders", "/shop",
}

func (s *PublicPages) robots(w http.ResponseWriter, r *http.Request) error {
	var b strings.Builder
	b.WriteString("User-agent: *\n")
	for _, p := range private {
		b.WriteString("Disallow: " + p + "\n")
	}
	// The icon of the pages.
	b.WriteString("Allow: /app/icon.svg\n\nSitemap: " + s.URL() + "/sitemap.xml\n")
	web.Rendered{MediaType: "text/plain; charset=utf-8", Body: []byte(b.String())}.ServeHTTP(w, r)
	return nil
}

type sitemap struct {
	XMLName xml.Name     `xml:"http://www.sitemaps.org/schemas/sitemap/0.9 urlset"`
	URLs    []sitemapURL `xml:"url"`
}

type sitemapURL struct {
	Loc string `xml:"loc"`
}

// sitemap serves the sitemap. A branch without a published menu is left out, because its page would be empty.
func (s *PublicPages) sitemap(w http.ResponseWriter, r *http.Request) error {
	all, err := s.Branches(r.Context())
	if err != nil {
		return err
	}
	paths := []string{"/"}
	for _, b := range all {
		_, err := s.Menu(r.Context(), b.ID)
		switch {
		case err == nil:
			paths = append(paths, menuPath(b))
		case fault.KindOf(err) != fault.NotFound:
			return err // a search engine would take the page for removed
		}
	}
	var m sitemap
	for _, path := range paths {
		m.URLs = append(m.URLs, sitemapURL{s.URL() + path})
		for _, l := range languages {
			m.URLs = append(m.URLs, sitemapURL{s.URL() + path + "?lang=" + l.tag})
		}
	}
	body, err := xml.Marshal(m)
	if err != nil {
		return err
	}
	web.Rendered{MediaType: "application/xml", Body: append([]byte(xml.Header), body...)}.ServeHTTP(w, r)
	return nil
}
