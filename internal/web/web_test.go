package web_test

import (
	"compress/gzip"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/prometheus/client_golang/prometheus"

	"comanda/internal/fault"
	"comanda/internal/httpapi"
	"comanda/internal/testenv"
	"comanda/internal/web"
)

const page = `<!doctype html><title>Menu</title></head><script type="application/json" id="boot">{}</script><script type="module" src="/assets/a-1.js"></script>`

const console = `<!doctype html><meta name="frame" content="/assets/c-3.js /assets/b-2.css"><script type="application/json" id="boot">{}</script><script type="module" src="/assets/c-3.js"></script>`

func built() fstest.MapFS {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	return fstest.MapFS{
		"guest.html": file(page), "staff.html": file(console), "console/worker.js": file("worker"),
		"app/worker.js": file("keeps files"), "app/unregister.js": file("removes itself"), "assets/a-1.js": file("plain"), "assets/a-1.js.br": file("brotli"),
		"assets/a-1.js.gz": file("gzip"), "assets/b-2.css": file("css"), "app/manifest.webmanifest": file("{}"),
	}
}

// newServer serves the app with the named payment methods.
func newServer(t *testing.T, methods ...string) http.Handler {
	t.Helper()
	s := testenv.Must(httpapi.New(httpapi.Default(), slog.New(slog.DiscardHandler), prometheus.NewRegistry()))(t)
	app := testenv.Must(web.New(built(), web.Boot{Methods: methods}))(t)
	app.Register(s.API())
	drawn := fstest.MapFS{"4.svg": {Data: []byte("<svg>" + strings.Repeat("bowl", 100) + "</svg>")}}
	testenv.NoError(t, web.Pictures(s.API(), drawn, photos))
	return s
}

// photos is a source with one picture, in its large size. For the picture whose id consists of ones the database fails.
func photos(_ context.Context, id string, width int) ([]byte, bool, error) {
	if id == strings.Repeat("1", 32) {
		return nil, false, fault.New(fault.Unavailable, "unavailable", "down")
	}
	return []byte("jpeg"), id == photoID && width == 960, nil
}

var photoID = strings.Repeat("0a", 16)

// ask sends a GET request. headers alternates names and values.
func ask(t *testing.T, h http.Handler, path string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	return testenv.Serve(t, h, http.MethodGet, path, "", headers...)
}

// Pages of both apps show that the server is a demonstration; other servers' pages do not.
func TestApp_demo(t *testing.T) {
	for _, demo := range []bool{true, false} {
		s := testenv.Must(httpapi.New(httpapi.Default(), slog.New(slog.DiscardHandler), prometheus.NewRegistry()))(t)
		app := testenv.Must(web.New(built(), web.Boot{Methods: []string{"COUNTER"}, Demo: demo}))(t)
		app.Register(s.API())
		for _, path := range []string{"/m/abc", "/app/orders/x", "/shop", "/console/", "/console/board"} {
			if w := ask(t, s, path); w.Code != http.StatusOK || strings.Contains(w.Body.String(), `"demo":true}</script>`) != demo {
				t.Errorf("GET %s: status %d with body %s, want 200 and demo %t", path, w.Code, w.Body, demo)
			}
		}
	}
}

func TestApp_pages(t *testing.T) {
	s := newServer(t, "SANDBOX", "</script>")
	for path, want := range map[string]int{"/m/abc": 503, "/app": 200} { // pages that open a visit are not prefetched
		if w := ask(t, s, path, "Sec-Purpose", "prefetch;prerender"); w.Code != want {
			t.Errorf("GET %s as a prefetch: status %d, want %d", path, w.Code, want)
		}
	}
	want := strings.Replace(page, "{}", `{"methods":["SANDBOX","\u003c/script\u003e"]}`, 1)
	for _, path := range []string{"/m/abc", "/app", "/app/order/item/11", "/app/orders/x", "/shop", "/shop/orders/x"} {
		w := ask(t, s, path)
		if w.Code != http.StatusOK || w.Body.String() != want {
			t.Errorf("GET %s: status %d with body %s, want 200 with the guest app", path, w.Code, w.Body)
		}
		for name, value := range map[string]string{
			"Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-cache", "Referrer-Policy": "no-referrer",
			"X-Content-Type-Options": "nosniff",
		} {
			if got := w.Header().Get(name); got != value {
				t.Errorf("GET %s: header %s = %q, want %q", path, name, got, value)
			}
		}
		again := ask(t, s, path, "If-None-Match", w.Header().Get("ETag"))
		if again.Code != http.StatusNotModified || again.Body.Len() != 0 {
			t.Errorf("GET %s with its ETag: status %d with body %s, want 304", path, again.Code, again.Body)
		}
	}
}

func TestApp_console(t *testing.T) {
	s := newServer(t)
	for _, path := range []string{"/console/", "/console/login", "/console/orders/x"} {
		if w := ask(t, s, path); w.Code != http.StatusOK || w.Body.String() != console {
			t.Errorf("GET %s: status %d with body %s, want 200 with the console", path, w.Code, w.Body)
		}
	}
	if w := ask(t, s, "/console"); w.Code != http.StatusPermanentRedirect || w.Header().Get("Location") != "/console/" {
		t.Errorf("GET /console: status %d with headers %v, want 308 to /console/", w.Code, w.Header())
	}
	w := ask(t, s, "/console/worker.js")
	if h := w.Header(); w.Body.String() != "worker" || h.Get("Cache-Control") != "no-cache" ||
		!strings.Contains(h.Get("Content-Security-Policy"), "connect-src 'self'") {
		t.Errorf("worker = %s with headers %v, want it uncached, connecting to self only", w.Body, h)
	}
}

// Browsers load the frame's files together with the page, unless the page has no frame.
func TestApp_console_frame(t *testing.T) {
	s := newServer(t)
	const frame = "</assets/c-3.js>; rel=modulepreload, </assets/b-2.css>; rel=preload; as=style; crossorigin"
	for path, want := range map[string]string{
		"/console/": frame, "/console/board": frame, "/console/login": "", "/console/setup": "", "/console/worker.js": "", "/app/order": "",
	} {
		if got := ask(t, s, path).Header().Get("Link"); got != want {
			t.Errorf("%s: Link = %q, want %q", path, got, want)
		}
	}
}

// A server with the worker turned off replaces it by one that removes itself, and its pages register none.
func TestApp_guest_worker(t *testing.T) {
	for worker, want := range map[bool]string{true: "keeps files", false: "removes itself"} {
		s := testenv.Must(httpapi.New(httpapi.Default(), slog.New(slog.DiscardHandler), prometheus.NewRegistry()))(t)
		app := testenv.Must(web.New(built(), web.Boot{Worker: worker}))(t)
		app.Register(s.API())
		w := ask(t, s, "/app/worker.js")
		h := w.Header()
		if w.Body.String() != want || h.Get("Service-Worker-Allowed") != "/" || h.Get("Cache-Control") != "no-cache" ||
			!strings.Contains(h.Get("Content-Security-Policy"), "connect-src 'self'") {
			t.Errorf("worker %v: %s with headers %v, want it uncached for the whole site", worker, w.Body, h)
		}
		if page := ask(t, s, "/app"); strings.Contains(page.Body.String(), `"worker":true`) != worker {
			t.Errorf("worker %v: page = %s, want it to say so", worker, page.Body)
		}
	}
}

func TestApp_policy_of_contents(t *testing.T) {
	s := newServer(t)
	got := ask(t, s, "/m/abc").Header().Get("Content-Security-Policy")
	testenv.Equal(t, got, ask(t, s, "/console/").Header().Get("Content-Security-Policy"))
	want := "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; " +
		"font-src 'self'; manifest-src 'self'; worker-src 'self'; base-uri 'none'; object-src 'none'; form-action 'self'; " +
		"frame-ancestors 'none'; require-trusted-types-for 'script'"
	testenv.Equal(t, want, got)
}

func TestApp_files(t *testing.T) {
	s := newServer(t)
	for _, c := range []struct{ path, accept, body, coding, mediaType, cache string }{
		{"/assets/a-1.js", "gzip, deflate, br", "brotli", "br", "text/javascript; charset=utf-8", "immutable"},
		{"/assets/a-1.js", "gzip", "gzip", "gzip", "text/javascript; charset=utf-8", "immutable"},
		{"/assets/a-1.js", "br;q=0, gzip;q=0.5", "gzip", "gzip", "text/javascript; charset=utf-8", "immutable"},
		{"/assets/a-1.js", "", "plain", "", "text/javascript; charset=utf-8", "immutable"},
		{"/assets/b-2.css", "br, gzip", "css", "", "text/css; charset=utf-8", "immutable"},
		{"/app/manifest.webmanifest", "br", "{}", "", "application/manifest+json", "no-cache"},
	} {
		w := ask(t, s, c.path, "Accept-Encoding", c.accept)
		h := w.Header()
		if w.Code != http.StatusOK || w.Body.String() != c.body || h.Get("Content-Encoding") != c.coding ||
			h.Get("Content-Type") != c.mediaType || !strings.HasSuffix(h.Get("Cache-Control"), c.cache) ||
			h.Get("Vary") != "Accept-Encoding" {
			t.Errorf("%s for %q: %d %s %v", c.path, c.accept, w.Code, w.Body, h)
		}
	}
	for _, path := range []string{"/assets/a-0.js", "/assets/a-1.js.br", "/assets/", "/guest.html", "/elsewhere"} {
		if w := ask(t, s, path); w.Code != http.StatusNotFound {
			t.Errorf("GET %s: status %d with body %s, want 404", path, w.Code, w.Body)
		}
	}
}

func TestPictures(t *testing.T) {
	s := newServer(t)
	w := ask(t, s, "/media/4", "Accept-Encoding", "gzip")
	z := testenv.Must(gzip.NewReader(w.Body))(t)
	text, err := io.ReadAll(z)
	h := w.Header()
	if err != nil || !strings.HasPrefix(string(text), "<svg>bowl") || h.Get("Content-Type") != "image/svg+xml" ||
		h.Get("Content-Security-Policy") != "default-src 'none'; frame-ancestors 'none'" {
		t.Errorf("picture = %s, error %v, headers %v, want an SVG that may load nothing", text, err, h)
	}
	testenv.Equal(t, http.StatusNotFound, ask(t, s, "/media/5").Code)
}

func TestPictures_photos(t *testing.T) {
	s := newServer(t)
	w := ask(t, s, "/media/"+photoID+"-960.jpg")
	h := w.Header()
	if w.Code != http.StatusOK || w.Body.String() != "jpeg" || h.Get("Content-Type") != "image/jpeg" ||
		h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Cache-Control") != "public, max-age=31536000, immutable" {
		t.Errorf("photo: status %d with headers %v, want 200 with an immutable JPEG", w.Code, h)
	}
	again := ask(t, s, "/media/"+photoID+"-960.jpg", "If-None-Match", h.Get("ETag"))
	if again.Code != http.StatusNotModified || again.Body.Len() != 0 || again.Header().Get("ETag") != h.Get("ETag") {
		t.Errorf("photo with its ETag: status %d with body %s, want 304", again.Code, again.Body)
	}
	for path, status := range map[string]int{
		"/media/" + photoID + "-320.jpg":                  404, // unknown
		"/media/" + photoID + "-640.jpg":                  404, // not one of our sizes
		"/media/" + photoID + ".jpg":                      404,
		"/media/" + strings.ToUpper(photoID) + "-960.jpg": 404,
		"/media/" + photoID + "-960.jpg.jpg":              404,
		"/media/..%2f" + photoID + "-960.jpg":             404,
		"/media/" + strings.Repeat("1", 32) + "-960.jpg":  503,
	} {
		if w := ask(t, s, path); w.Code != status {
			t.Errorf("GET %s: status %d with body %s, want %d", path, w.Code, w.Body, status)
		}
	}
}

func TestNew_fails(t *testing.T) {
	broken := built()
	broken["guest.html"] = &fstest.MapFile{Data: []byte("<!doctype html>")}
	without := built()
	delete(without, "guest.html")
	guests := built()
	delete(guests, "staff.html")
	for name, files := range map[string]fstest.MapFS{
		"no place for boot": broken, "no page": without, "no console": guests,
	} {
		if _, err := web.New(files, web.Boot{}); err == nil {
			t.Errorf("New with %s: no error", name)
		}
	}
}

// The page contains the brand from the start, and the content security policy allows its style and no other.
func TestApp_brand(t *testing.T) {
	s := testenv.Must(httpapi.New(httpapi.Default(), slog.New(slog.DiscardHandler), prometheus.NewRegistry()))(t)
	app := testenv.Must(web.New(built(), web.Boot{Methods: []string{"COUNTER"}}))(t)
	app.Register(s.API())
	plain := ask(t, s, "/app")
	if b := plain.Body.String(); strings.Contains(b, "brand") || strings.Contains(plain.Header().Get("Content-Security-Policy"), "sha256") {
		t.Errorf("page without a brand = %s, want neither brand nor hashes", b)
	}
	logo := &web.PagePicture{URL: "/media/x-160.png", Width: 160, Height: 80}
	testenv.NoError(t, app.SetBoot(web.Boot{Methods: []string{"COUNTER"}, Brand: web.PageBrand{
		Name: `Quán "Hoa" <&>`, Accent: "#0b6e4f", Style: ":root{--accent:#0b6e4f}", Logo: logo,
		IconSmall: "/media/x-192.png", IconLarge: "/media/x-512.png", Title: map[string]string{"vi": "Xin chào"},
	}}))
	w := ask(t, s, "/app")
	for _, want := range []string{
		"<title>Quán &#34;Hoa&#34; &lt;&amp;&gt;</title>", "<style>:root{--accent:#0b6e4f}</style></head>",
		`"logo":{"url":"/media/x-160.png","width":160,"height":80}`, `"title":{"vi":"Xin chào"}`,
	} {
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("page without %s: %s", want, w.Body)
		}
	}
	const hash = "style-src 'self' 'sha256-xN05S+UB1G4dqcMhwKRyI5ds6ixFMombmOrGO7ofzXQ=';"
	if got := w.Header().Get("Content-Security-Policy"); !strings.Contains(got, hash) {
		t.Errorf("policy = %s, want the hash of the style", got)
	}
	if w.Header().Get("ETag") == plain.Header().Get("ETag") {
		t.Error("browsers would keep the page without the brand")
	}
	m := ask(t, s, "/app/manifest.webmanifest").Body.String()
	for _, want := range []string{`"short_name":"Quán \"Hoa\" \u003c\u0026\u003e"`, `"theme_color":"#0b6e4f"`, `"src":"/media/x-512.png"`} {
		if !strings.Contains(m, want) {
			t.Errorf("manifest without %s: %s", want, m)
		}
	}
	if staff := ask(t, s, "/console/").Body.String(); strings.Contains(staff, "0b6e4f") {
		t.Error("the console has the brand's colours")
	}
}
