// Package web serves the guest app and the staff console, as built by `make web`, from the binary.
//
// Files are compressed at build time. Files under /assets have a content hash in their name, and browsers cache them
// forever. Pages are revalidated on each request with 304 if unchanged. A page contains the data that the app needs
// before its first request as a block of JSON, which the content security policy allows, unlike inline scripts.
//
// A binary that is built without the tag webapp contains no apps, so building and testing it needs only Go.
package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"regexp"
	"strings"
	"sync/atomic"

	"comanda/internal/fault"
	"comanda/internal/httpapi"
)

// Boot is the data that a page passes to the app before its first request. It is part of a page that anyone can read,
// so it must not contain a secret.
type Boot struct {
	Methods []string  `json:"methods,omitempty"` // offered payment methods, preferred first; for the guest app
	Google  bool      `json:"google,omitempty"`  // members may sign in with Google
	Worker  bool      `json:"worker,omitempty"`  // phones may keep the guest app's files in a service worker
	Demo    bool      `json:"demo,omitempty"`    // the installation is a demonstration
	Brand   PageBrand `json:"brand,omitzero"`    // the restaurant's brand, for the guest app
}

// App serves the guest app and the staff console. All files are in memory and compressed, so serving one reads no disk.
// It is safe for concurrent use.
type App struct {
	built   fs.FS
	page    atomic.Pointer[content] // replaced by SetBoot
	console atomic.Pointer[content]
	frame   string                  // header Link of the console's pages with a frame
	install atomic.Pointer[content] // the guest app's manifest
	files   map[string]*content     // by URL path
}

// The pages. Every address of an app returns its page; the app's router selects the screen.
const (
	guestPage = "guest.html"
	staffPage = "staff.html"

	consoleWorker = "console/worker.js"
	guestWorker   = "app/worker.js"
	// noWorker replaces a guest worker by one that removes itself.
	noWorker = "app/unregister.js"
)

// contents is the content security policy of pages: scripts, styles and connections of this server only.
const contents = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; " +
	"connect-src 'self'; font-src 'self'; manifest-src 'self'; worker-src 'self'; base-uri 'none'; object-src 'none'; " +
	"form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'"

// New returns the App of the built files. It fails if a page is missing or has no place for Boot.
func New(built fs.FS, boot Boot) (*App, error) {
	a := &App{built: built, files: map[string]*content{}}
	err := fs.WalkDir(built, ".", func(name string, d fs.DirEntry, err error) error {
		// Pages are added below, with their data. Compressed versions are added with their files.
		if err != nil || d.IsDir() || path.Ext(name) == ".html" || compressed(name) {
			return err
		}
		return a.add(built, name)
	})
	if err != nil {
		return nil, fmt.Errorf("web: read the app: %w", err)
	}
	if off, ok := a.files["/"+noWorker]; ok && !boot.Worker {
		a.files["/"+guestWorker] = off
	}
	a.frame = frameLinks(built)
	return a, a.SetBoot(boot)
}

// framePattern matches the names of the frame's files in the console's page.
var framePattern = regexp.MustCompile(`<meta name="frame" content="([^"]*)">`)

// frameLinks returns a Link header (RFC 8288) that lets browsers load the files of the console's frame together with its
// entry. It is empty if the page names none, as in development.
func frameLinks(built fs.FS) string {
	page, _ := fs.ReadFile(built, staffPage) // SetBoot returns the error
	found := framePattern.FindSubmatch(page)
	if found == nil {
		return ""
	}
	var links []string
	for name := range strings.FieldsSeq(string(found[1])) {
		kind := `rel=modulepreload`
		if path.Ext(name) == ".css" {
			kind = `rel=preload; as=style; crossorigin` // as the build requests it
		}
		links = append(links, "<"+name+">; "+kind)
	}
	return strings.Join(links, ", ")
}

// The console's pages without a frame.
var withoutFrame = map[string]bool{ConsolePath + "login": true, ConsolePath + "setup": true}

// withFrame sets the frame's Link header on the pages that have the frame.
func (a *App) withFrame(page http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if a.frame != "" && !withoutFrame[r.URL.Path] {
			w.Header().Set("Link", a.frame)
		}
		page.ServeHTTP(w, r)
	})
}

// SetBoot replaces the data of the pages. Browsers get it with the next page that they load.
func (a *App) SetBoot(boot Boot) error {
	page, err := newPage(a.built, guestPage, boot)
	if err != nil {
		return err
	}
	console, err := newPage(a.built, staffPage, Boot{Demo: boot.Demo})
	if err != nil {
		return err
	}
	install, err := a.newManifest(boot.Brand)
	if err != nil {
		return err
	}
	a.page.Store(page)
	a.install.Store(install)
	a.console.Store(console)
	return nil
}

// newPage returns a page with its data. It is compressed at run time, because the data is only known then.
func newPage(built fs.FS, name string, boot Boot) (*content, error) {
	text, err := fs.ReadFile(built, name)
	if err == nil {
		text, err = write(boot.Brand.applyTo(text), boot)
	}
	if err != nil {
		return nil, fmt.Errorf("web: %s: %w", name, err)
	}
	c := newContent(name, askAgain, text)
	c.csp = boot.Brand.policy()
	c.zip()
	return c, nil
}

// compressed reports whether a file is the compressed version of another one.
func compressed(name string) bool {
	return strings.HasSuffix(name, ".br") || strings.HasSuffix(name, ".gz")
}

// add adds a file with its compressed versions.
func (a *App) add(built fs.FS, name string) error {
	info, err := fs.Stat(built, name)
	if err != nil {
		return err
	}
	// The name of an asset has a hash of its content, so it serves as entity tag and the content need not be read. Other files
	// may change under the same name.
	cache, version := forGood, []byte(name)
	if !strings.HasPrefix(name, "assets/") {
		cache = askAgain
		if version, err = fs.ReadFile(built, name); err != nil {
			return err
		}
	}
	c := newContent(name, cache, version)
	c.plain = body{files: built, name: name, size: int(info.Size())}
	switch name {
	case consoleWorker:
		c.csp = contents // a service worker has its own policy; this one fetches the console's files
	case guestWorker, noWorker:
		c.csp, c.scope = contents, "/" // the guests' pages are at several paths
	}
	for coding, ending := range map[string]string{"br": ".br", "gzip": ".gz"} {
		if info, err := fs.Stat(built, name+ending); err == nil {
			c.coded[coding] = body{files: built, name: name + ending, size: int(info.Size())}
		}
	}
	a.files["/"+name] = c
	return nil
}

// The markers in a page between which boot is written.
const (
	bootOpen  = `<script type="application/json" id="boot">`
	bootClose = `</script>`
)

// write puts boot between the markers of a page.
func write(page []byte, boot Boot) ([]byte, error) {
	before, rest, ok := bytes.Cut(page, []byte(bootOpen))
	_, after, closed := bytes.Cut(rest, []byte(bootClose))
	if !ok || !closed {
		return nil, fmt.Errorf("there is no %s", bootOpen)
	}
	data, err := json.Marshal(boot) // escapes < as \u003c, so that no value can end the script block
	if err != nil {
		return nil, err
	}
	return bytes.Join([][]byte{before, []byte(bootOpen), data, []byte(bootClose), after}, nil), nil
}

// ConsolePath is the path of the staff console.
const ConsolePath = "/console/"

// Register registers the pages of the apps and their files.
func (a *App) Register(api *httpapi.API) {
	guest, console := current(&a.page), a.withFrame(current(&a.console))
	// Prerendering the page would open a visit.
	api.Handle(httpapi.Route{Pattern: "GET /m/{token}", Policy: httpapi.Public, Handler: httpapi.RefusePrefetch(guest)})
	for _, pattern := range []string{"GET /app", "GET /shop", "GET /shop/{path...}"} {
		api.Handle(httpapi.Route{Pattern: pattern, Policy: httpapi.Public, Handler: guest})
	}
	api.Handle(httpapi.Route{Pattern: "GET /app/{path...}", Policy: httpapi.Public, Handler: a.orElse(guest)})
	// All routes of the console are in one folder, which is the scope of its service worker.
	toConsole := http.RedirectHandler(ConsolePath, http.StatusPermanentRedirect)
	api.Handle(httpapi.Route{Pattern: "GET /console", Policy: httpapi.Public, Handler: toConsole})
	api.Handle(httpapi.Route{Pattern: "GET /console/{path...}", Policy: httpapi.Public, Handler: a.orElse(console)})
	assets := a.orElse(http.HandlerFunc(missing))
	api.Handle(httpapi.Route{Pattern: "GET /assets/{path...}", Policy: httpapi.Public, Handler: assets})
}

// current serves the page that is current at the time of the request.
func current(page *atomic.Pointer[content]) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { page.Load().ServeHTTP(w, r) })
}

// orElse returns a handler that serves a file of the app, or calls instead for any other path. Paths are looked up in a
// map of the build's files, so ".." needs no check.
func (a *App) orElse(instead http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c := a.install.Load(); c != nil && r.URL.Path == manifestPath {
			c.ServeHTTP(w, r)
			return
		}
		if c, ok := a.files[r.URL.Path]; ok {
			c.ServeHTTP(w, r)
			return
		}
		instead.ServeHTTP(w, r)
	})
}

var errMissing = fault.New(fault.NotFound, "not_found", "There is nothing at this path.")

func missing(w http.ResponseWriter, r *http.Request) { httpapi.Fail(w, r, errMissing) }
