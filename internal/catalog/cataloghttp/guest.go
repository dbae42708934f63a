package cataloghttp

import (
	"bytes"
	"compress/gzip"
	"context"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/danielgtaylor/huma/v2"

	"comanda/internal/catalog"
	"comanda/internal/fault"
	"comanda/internal/httpapi"
)

// LiveMenus returns live menus; catalog.LiveMenus implements it.
type LiveMenus interface {
	Get(ctx context.Context, branch int64) (*catalog.LiveMenu, error)
}

// Tables reports whether a table belongs to a branch; visit.Store implements it.
type Tables interface {
	TableIn(ctx context.Context, branch, table int64) (bool, error)
}

type menuIn struct {
	Locale         string `query:"locale" text:"exact" maxLength:"16" doc:"Takes precedence over Accept-Language."`
	AcceptLanguage string `header:"Accept-Language"`
	AcceptEncoding string `header:"Accept-Encoding"`
	IfNoneMatch    string `header:"If-None-Match"`
	Body           menuRequest
}

type menuRequest struct {
	BranchID      string `json:"branchId" text:"exact" minLength:"1" maxLength:"18"`
	TableID       string `json:"tableId,omitempty" text:"exact" maxLength:"18" doc:"Must be a table of the branch. Without it, the menu has the dishes to take away and for delivery."`
	CustomerToken string `json:"customerToken,omitempty" text:"exact" maxLength:"128" doc:"Ignored by this route."`
}

// menuOut is a response whose body is rendered already.
type menuOut struct {
	Status          int
	ContentType     string `header:"Content-Type"`
	ContentEncoding string `header:"Content-Encoding"`
	ETag            string `header:"ETag"`
	CacheControl    string `header:"Cache-Control"`
	Vary            string `header:"Vary"`
	Body            []byte
}

// RegisterGuest registers the guests' menu route.
func RegisterGuest(a *httpapi.API, menus LiveMenus, tables Tables) {
	g := &guest{menus: menus, tables: tables}
	httpapi.RegisterOutput(a.Operations("Menus", httpapi.Public), "menu-active", "POST /cis/menu/active",
		"Get the live menu, with what is sold out", g.active, menuResponses)
}

type guest struct {
	menus  LiveMenus
	tables Tables
	pages  pages
}

// active returns the current menu, as bytes that all guests with the same language share.
func (g *guest) active(ctx context.Context, in *menuIn) (*menuOut, error) {
	branch, ok := parseID(in.Body.BranchID)
	if !ok {
		return nil, catalog.ErrBranch
	}
	b, err := g.menus.Get(ctx, branch)
	if err != nil {
		return nil, err
	}
	// The table is checked after the branch, so that an unknown branch is reported as such and not as a wrong table.
	if in.Body.TableID != "" {
		if err := g.checkTable(ctx, branch, in.Body.TableID); err != nil {
			return nil, err
		}
	}
	p, err := g.pages.of(b, choose(b.Branch, in.Locale, in.AcceptLanguage), in.Body.TableID != "")
	if err != nil {
		return nil, err
	}
	return p.answer(in.IfNoneMatch, in.AcceptEncoding), nil
}

// checkTable refuses a table of another branch. While SQL is unreachable it accepts tables that are not cached, because
// the menu does not depend on the table.
func (g *guest) checkTable(ctx context.Context, branch int64, id string) error {
	table, ok := parseID(id)
	if !ok {
		return catalog.ErrTable
	}
	in, err := g.tables.TableIn(ctx, branch, table)
	if err == nil && !in {
		return catalog.ErrTable
	}
	if fault.KindOf(err) == fault.Unavailable {
		return nil
	}
	return err
}

// choose returns the named locale if the branch offers it, else the best match of Accept-Language.
func choose(b catalog.Branch, named, acceptLanguage string) catalog.Locale {
	if l := catalog.Locale(named); b.Offers(l) {
		return l
	}
	return httpapi.Locale(acceptLanguage, b.Locales...)
}

// answer returns the page, or 304 if the client has it. RFC 9110, section 13.1.2, asks for 412 to a POST, but this POST
// only reads; qr-ordering.md demands the method.
func (p *page) answer(ifNoneMatch, acceptEncoding string) *menuOut {
	out := &menuOut{
		Status: http.StatusNotModified, ETag: p.etag, CacheControl: "no-cache", Vary: "Accept-Language, Accept-Encoding",
	}
	if httpapi.Fresh(ifNoneMatch, p.etag) {
		return out
	}
	out.Status, out.ContentType, out.Body = http.StatusOK, "application/json", p.body
	if acceptsGzip(acceptEncoding) {
		out.ContentEncoding, out.Body = "gzip", p.zip()
	}
	return out
}

// parseID parses a positive id. Ids in requests are strings, because JavaScript's numbers are not exact beyond 2^53.
func parseID(s string) (int64, bool) {
	id, err := strconv.ParseInt(s, 10, 64)
	return id, err == nil && id > 0
}

// menuResponses describes the menu for the OpenAPI document, which cannot derive a schema from a body of bytes.
func menuResponses(op *huma.Operation) {
	registry := inlined{huma.NewMapRegistry("#/", huma.DefaultSchemaNamer)}
	schema := registry.Schema(reflect.TypeFor[menu](), false, "")
	op.Responses = map[string]*huma.Response{
		"200": {Description: "OK", Content: map[string]*huma.MediaType{"application/json": {Schema: schema}}},
		"304": {Description: "The client already has this version."},
	}
}

// inlined is a schema registry that writes every schema inline instead of a reference.
type inlined struct{ huma.Registry }

// Schema implements huma.Registry and ignores allowRef.
func (r inlined) Schema(t reflect.Type, _ bool, _ string) *huma.Schema {
	return huma.SchemaFromType(r, t)
}

// page is a live menu rendered in one locale. It is immutable.
type page struct {
	menu *catalog.LiveMenu
	body []byte
	etag string
	zip  func() []byte // the gzip body, compressed at the first call
}

func newPage(b *catalog.LiveMenu, l catalog.Locale, kinds []catalog.OrderKind) (*page, error) {
	body, err := render(b, l, kinds)
	if err != nil {
		return nil, err
	}
	p := &page{menu: b, body: body, etag: weak(httpapi.ETag(body))}
	p.zip = sync.OnceValue(func() []byte { return compress(body) })
	return p, nil
}

// weak returns a weak validator. A strong one would have to differ between the plain and the compressed body (RFC 9110,
// section 8.8.3.3).
func weak(etag string) string { return "W/" + etag }

// compress uses the default level; a page is compressed once and sent many times.
func compress(body []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(body) // writes to a bytes.Buffer do not fail
	_ = w.Close()
	return b.Bytes()
}

// pages caches the last page per branch, locale and kinds of orders. A page is rendered again only if its live menu has
// changed, by one request at a time. The number of entries is bounded, because only existing branches and locales have
// pages.
type pages struct{ byKey sync.Map } // pageKey -> *pageSlot

type pageKey struct {
	branch int64
	locale catalog.Locale
	table  bool // for guests at a table
}

type pageSlot struct {
	page atomic.Pointer[page]
	mu   sync.Mutex // held while rendering
}

// of returns the page of a live menu. Menus are compared by pointer, because an unchanged menu keeps its pointer.
func (ps *pages) of(b *catalog.LiveMenu, l catalog.Locale, table bool) (*page, error) {
	kinds := toTakeAway
	if table {
		kinds = atTable
	}
	key := pageKey{b.Branch.ID, l, table}
	found, ok := ps.byKey.Load(key)
	if !ok {
		found, _ = ps.byKey.LoadOrStore(key, &pageSlot{})
	}
	s := found.(*pageSlot) //nolint:forcetypeassert // nothing else is stored
	if p := s.page.Load(); p != nil && p.menu == b {
		return p, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.page.Load(); p != nil && p.menu == b {
		return p, nil
	}
	p, err := newPage(b, l, kinds)
	// After an error the old page stays cached. It is not sent to requests with the new menu.
	if err == nil {
		s.page.Store(p)
	}
	return p, err
}

// acceptsGzip reports whether an Accept-Encoding header (RFC 9110, section 12.5.3) accepts gzip: gzip or * with a
// weight above zero.
func acceptsGzip(header string) bool {
	for part := range strings.SplitSeq(header, ",") {
		coding, weight, _ := strings.Cut(strings.TrimSpace(part), ";")
		coding = strings.TrimSpace(coding)
		if strings.EqualFold(coding, "gzip") || coding == "*" {
			return strings.Trim(strings.TrimPrefix(strings.TrimSpace(weight), "q="), "0.") != "" || weight == ""
		}
	}
	return false
}
