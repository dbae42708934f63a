package httpapi

import (
	"html/template"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"comanda/internal/testenv"

	"comanda/internal/fault"
)

// The Accept header of Chromium for a navigation.
const browserAccept = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8"

// A browser runs the script and applies the style of the page, because their hashes in the policy match the rendered
// page.
func TestPage_Write_policy(t *testing.T) {
	w := httptest.NewRecorder()
	if err := (Page{Language: "en", Heading: "Paid", Return: &PageReturn{Key: "kept", URL: "/app/orders/1"}}).Write(w); err != nil {
		t.Fatal(err)
	}
	body := w.Body.String()
	if !strings.Contains(body, `data-key="kept" data-to="/app/orders/1"`) {
		t.Errorf("nothing to go on to: %s", body)
	}
	for _, tag := range []string{"script", "style"} {
		_, rest, _ := strings.Cut(body, "<"+tag+">")
		text, _, _ := strings.Cut(rest, "</"+tag+">")
		if csp := w.Header().Get("Content-Security-Policy"); text == "" || !strings.Contains(csp, SourceHash(text)) {
			t.Errorf("the %s is not allowed by %s: %q", tag, csp, text)
		}
	}
}

// A page that waits checks by script whether it has changed. Only browsers without scripts reload it unasked.
func TestPage_Write_refresh(t *testing.T) {
	write := func(p Page) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		testenv.NoError(t, p.Write(w))
		return w
	}
	waiting, decided := write(Page{Language: "en", Heading: "Checking", Refresh: 3}), write(Page{Language: "en", Heading: "Paid"})
	for _, text := range []string{` data-refresh="3"`, `<noscript><meta http-equiv="refresh" content="3"></noscript>`, "<script>"} {
		if !strings.Contains(waiting.Body.String(), text) || strings.Contains(decided.Body.String(), text) {
			t.Errorf("the waiting page is %s and the decided page %s, want %s in the first only", waiting.Body, decided.Body, text)
		}
	}
	if csp := waiting.Header().Get("Content-Security-Policy"); !strings.Contains(csp, "connect-src 'self'") || !strings.Contains(csp, SourceHash(pageScript)) {
		t.Error(csp)
	}
	if csp := decided.Header().Get("Content-Security-Policy"); strings.Contains(csp, "connect-src") {
		t.Error(csp)
	}
}

// A page shows the restaurant's logo and colours, and its policy allows exactly these.
func TestPage_Write_brand(t *testing.T) {
	h := newHarness(t, nil)
	send := func() answer { return h.send("GET", "/nope", "", "Accept", browserAccept) }
	if a := send(); !strings.Contains(a.body, "<svg") || strings.Contains(a.Header.Get("Content-Security-Policy"), "img-src") {
		t.Errorf("without a brand: %v %s", a.Header, a.body)
	}
	style := ":root{--accent:#0b6e4f}"
	h.SetHouse(House{Name: "Quán Hoa", Logo: "/media/brand/logo.png", Style: template.CSS(style)})
	a := send()
	csp := a.Header.Get("Content-Security-Policy")
	for _, text := range []string{"<style>" + style + "</style>", `<img src="/media/brand/logo.png"`, "<span>Quán Hoa</span>"} {
		if !strings.Contains(a.body, text) {
			t.Errorf("the page has no %s: %s", text, a.body)
		}
	}
	if strings.Contains(a.body, "<svg") || !strings.Contains(csp, SourceHash(style)) || !strings.Contains(csp, "img-src 'self'") {
		t.Errorf("policy %s of page %s, want images of the site and no inline SVG", csp, a.body)
	}
}

// For an unknown path a browser receives a page in its language with a link onwards, and a program receives a problem.
func TestServer_MissingPage(t *testing.T) {
	withHome := func(a *API) {
		a.Handle(Route{Pattern: "GET /{$}", Policy: Public, Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})})
	}
	withRoom := func(a *API) {
		a.Handle(Route{Pattern: "GET /room/{id}", Policy: Public, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			Fail(w, r, fault.New(fault.NotFound, "room_not_found", "Room not found."))
		})})
	}
	h := newHarness(t, nil, withHome, withRoom)
	h.SetHouse(House{Name: "Quán Hoa"})
	for _, path := range []string{"/nope", "/room/7"} {
		for language, want := range map[string][]string{
			"":               {`lang="en"`, "<title>Page not found · Quán Hoa</title>", `<a href="/">Go to the start page</a>`},
			"vi-VN,vi;q=0.9": {`lang="vi"`, "<title>Không tìm thấy trang này · Quán Hoa</title>", `<a href="/">Về trang chủ</a>`},
			"zh-TW,en;q=0.5": {`lang="zh-TW"`, "<title>找不到這個頁面 · Quán Hoa</title>", `<a href="/">回到首頁</a>`},
		} {
			a := h.send("GET", path, "", "Accept", browserAccept, "Accept-Language", language)
			if a.StatusCode != 404 || a.Header.Get("Content-Type") != "text/html; charset=utf-8" || strings.Contains(a.body, "<script") {
				t.Errorf("%s in %q: %d %v %s", path, language, a.StatusCode, a.Header, a.body)
			}
			for _, text := range want {
				if !strings.Contains(a.body, text) {
					t.Errorf("%s in %q has no %s: %s", path, language, text, a.body)
				}
			}
		}
		for _, accept := range []string{"", "*/*", "application/json", "text/html;q=0, */*"} {
			a := h.send("GET", path, "", "Accept", accept)
			if p := a.problem(t); a.StatusCode != 404 || p["status"] != 404.0 {
				t.Errorf("%s for %q: %d %s", path, accept, a.StatusCode, a.body)
			}
		}
	}
	if a := h.send("POST", "/nope", "{}", "Accept", browserAccept); a.problem(t)["code"] != "not_found" {
		t.Errorf("a form gets %s", a.body)
	}
	if a := h.send("GET", "/cis/order/create", "", "Accept", browserAccept); a.problem(t)["code"] != "method_not_allowed" {
		t.Errorf("another method gets %s", a.body)
	}
	if a := newHarness(t, nil).send("GET", "/nope", "", "Accept", browserAccept); strings.Contains(a.body, "<a ") {
		t.Errorf("a server without an app has no start page: %s", a.body)
	}
}
