package site_test

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"comanda/internal/brand"
	"comanda/internal/catalog"
	"comanda/internal/httpapi"
	"comanda/internal/site"
	"comanda/internal/testenv"
)

const photo = "0123456789abcdef0123456789abcdef"

func newBranch(t *testing.T, id int64, name string, hours catalog.OpeningHours) catalog.Branch {
	t.Helper()
	return testenv.Must(catalog.NewBranch(catalog.Branch{
		ID: id, Name: name, Currency: "VND", Timezone: "Asia/Ho_Chi_Minh", Locales: []catalog.Locale{catalog.Vietnamese, catalog.English},
		AutoClose: time.Hour, Open: true, Hours: hours, Slug: catalog.SlugOf(name, 1),
	}))(t)
}

// newSite serves two branches, of which the first has a menu. It is Monday noon there.
func newSite(t *testing.T, b brand.Brand) http.Handler {
	t.Helper()
	s := testenv.Must(httpapi.New(httpapi.Default(), slog.New(slog.DiscardHandler), prometheus.NewRegistry()))(t)
	first := newBranch(t, 7, "Quán Hoa Huế", catalog.OpeningHours{Weekly: map[catalog.Weekday][]catalog.Period{
		"mon": {{From: "11:00", To: "14:00"}, {From: "17:00", To: "22:00"}}, "sun": {{From: "11:00", To: "14:00"}},
		"sat": {{From: "06:00", To: "06:00"}},
	}, Exceptions: []catalog.HoursException{
		{Date: "2026-12-07", Periods: []catalog.Period{{From: "00:00", To: "00:00"}}},
		{Date: "2026-11-24", Note: "Lễ <khai trương>"}, {Date: "2026-11-22", Note: "yesterday"}, {Date: "2026-12-08", Note: "too late"},
		{Date: "2026-11-26", Periods: []catalog.Period{{From: "10:00", To: "12:00"}, {From: "18:00", To: "01:00"}}},
	}})
	second := newBranch(t, 8, "Quán Hoa Vinh", catalog.OpeningHours{Weekly: map[catalog.Weekday][]catalog.Period{"tue": {{From: "09:00", To: "12:00"}}}})
	menu := &catalog.Snapshot{Branch: first, Edition: catalog.NewEdition(1, 7,
		[]catalog.Category{{ID: 1, Names: catalog.Texts{"vi": "Phở", "en": "Pho"}}, {ID: 2, Names: catalog.Texts{"vi": "Hết"}}},
		[]catalog.Item{
			{ID: 3, DishID: 1, CategoryID: 1, Price: 59000, Active: true, Kinds: []catalog.OrderKind{catalog.Delivery},
				Names: catalog.Texts{"en": "Beef pho"}},
			{ID: 1, DishID: 1, CategoryID: 1, Price: 65000, Active: true, Kinds: []catalog.OrderKind{catalog.DineIn}, Names: catalog.Texts{"vi": "Phở bò </script>", "en": "Beef pho"},
				Descriptions: catalog.Texts{"en": "With herbs"}, ImageURL: "/media/" + photo + "-960.jpg"},
			{ID: 2, DishID: 2, CategoryID: 2, Price: 1, Names: catalog.Texts{"en": "Not on sale"}},
			{ID: 4, DishID: 4, CategoryID: 1, Price: 1, Kinds: []catalog.OrderKind{catalog.DineIn}, Names: catalog.Texts{"en": "Not on sale"}},
			{ID: 5, DishID: 4, CategoryID: 1, Price: 45000, Active: true, Kinds: []catalog.OrderKind{catalog.PickUp},
				Names: catalog.Texts{"en": "Broth to go"}},
		})}
	site.Register(s.API(), &site.PublicPages{
		Branches: func(context.Context) ([]catalog.Branch, error) { return []catalog.Branch{first, second}, nil },
		Menu: func(_ context.Context, id int64) (*catalog.Snapshot, error) {
			if id != 7 {
				return nil, catalog.ErrMenu
			}
			return menu, nil
		},
		BySlug: func(_ context.Context, slug string) (int64, error) {
			return map[string]int64{first.Slug: 7, "quan-cu": 7, second.Slug: 8}[slug], nil
		},
		Brand: func() brand.Brand { return b }, URL: func() string { return "https://quanhoa.vn" }, HasShop: true,
		Now: func() time.Time { return time.Date(2026, 11, 23, 5, 0, 0, 0, time.UTC) },
	})
	return s
}

func ask(t *testing.T, h http.Handler, path string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	return testenv.Serve(t, h, http.MethodGet, path, "", headers...)
}

func has(t *testing.T, what, body string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if !strings.Contains(body, want) {
			t.Errorf("%s has not %s:\n%s", what, want, body)
		}
	}
}

// data returns the schema.org data of a page.
func data(t *testing.T, body string) map[string]any {
	t.Helper()
	_, rest, _ := strings.Cut(body, `<script type="application/ld+json">`)
	text, _, _ := strings.Cut(rest, "</script>")
	all := map[string]any{}
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		t.Fatalf("structured data: %v in %s", err, text)
	}
	return all
}

func TestHome(t *testing.T) {
	s := newSite(t, brand.Brand{
		Name: "Quán <Hoa>", Accent: "#0b6e4f", Phone: "024 3825-0000", Title: catalog.Texts{"en": "Hello there", "vi": "Xin chào"},
		Cover: &brand.Picture{ID: photo, Width: 1600, Height: 900},
	})
	for lang, c := range map[string]struct{ header, path, tag string }{
		"by header":    {"en-GB,en;q=0.8", "/", "en"},
		"by parameter": {"vi", "/?lang=en", "en"},
		"of the house": {"fr", "/", "vi"},
		"unknown":      {"zh-TW", "/?lang=xx", "zh-Hant"},
	} {
		if body := ask(t, s, c.path, "Accept-Language", c.header).Body.String(); !strings.Contains(body, `<html lang="`+c.tag+`">`) {
			t.Errorf("language %s: body %s, want lang %s", lang, body, c.tag)
		}
	}
	w := ask(t, s, "/?lang=en")
	body := w.Body.String()
	has(t, "the page", body,
		"<title>Quán &lt;Hoa&gt;</title>", "<h1>Hello there</h1>", `<meta name="description"`, `href="/shop"`, `href="tel:02438250000"`,
		`<link rel="canonical" href="https://quanhoa.vn/?lang=en">`, `hreflang="zh-Hant" href="https://quanhoa.vn/?lang=zh-Hant"`,
		`hreflang="x-default" href="https://quanhoa.vn/"`, "Open now, until 14:00", "Closed · Opens Tuesday 09:00",
		"11:00–14:00, 17:00–22:00", `href="/menu/quan-hoa-hue?lang=en"`, "--accent:#0b6e4f", `property="og:image" content="https://quanhoa.vn/media/`+photo+`-1600.jpg"`)
	for _, not := range []string{"noindex", `href="/menu/quan-hoa-vinh`, "yesterday", "too late", "Comanda"} {
		if strings.Contains(body, not) {
			t.Errorf("the page has %s", not)
		}
	}
	first := data(t, body)["@graph"].([]any)[0].(map[string]any)            //nolint:forcetypeassert // fails loudly
	hours := first["openingHoursSpecification"].([]any)[0].(map[string]any) //nolint:forcetypeassert // fails loudly
	if first["@type"] != "Restaurant" || first["hasMenu"] != "https://quanhoa.vn/menu/quan-hoa-hue?lang=en" ||
		hours["dayOfWeek"] != "https://schema.org/Monday" || hours["opens"] != "11:00" || hours["closes"] != "14:00" {
		t.Errorf("the data is %v", first)
	}
	_, rest, _ := strings.Cut(body, "<style>")
	style, _, _ := strings.Cut(rest, "</style>")
	sum := sha256.Sum256([]byte(style))
	if csp := w.Header().Get("Content-Security-Policy"); !strings.Contains(csp, base64.StdEncoding.EncodeToString(sum[:])) {
		t.Errorf("the style is not allowed by %s", csp)
	}
	testenv.Equal(t, "Accept-Encoding, Accept-Language", w.Header().Get("Vary"))
	testenv.Equal(t, http.StatusNotModified, ask(t, s, "/?lang=en", "If-None-Match", w.Header().Get("ETag")).Code)
	if zipped := ask(t, s, "/", "Accept-Encoding", "gzip"); zipped.Header().Get("Content-Encoding") != "gzip" {
		t.Error("the page is not compressed")
	}
}

// Without a brand the page has the name of the first branch.
func TestHome_without_a_brand(t *testing.T) {
	body := ask(t, newSite(t, brand.Brand{}), "/?lang=vi").Body.String()
	has(t, "the page", body, "<title>Quán Hoa Huế</title>", "<h1>Quán Hoa Huế</h1>", "Thứ hai", "Đặt món từ nhà")
	if strings.Contains(body, "Comanda") {
		t.Error("the page names Comanda")
	}
}

func TestMenu(t *testing.T) {
	s := newSite(t, brand.Brand{Name: "Quán Hoa"})
	body := ask(t, s, "/menu/quan-hoa-hue?lang=en").Body.String()
	has(t, "the menu", body, "<title>Menu · Quán Hoa Huế · Quán Hoa</title>", "<h2>Pho</h2>", "<h3>Beef pho</h3>", "<p>With herbs</p>", "₫65,000",
		`src="/media/`+photo+`-320.jpg" width="96" height="96" loading="lazy"`, `href="https://quanhoa.vn/menu/quan-hoa-hue?lang=en"`)
	has(t, "the menu", body, "<h3>Broth to go</h3>", "₫45,000")
	for _, not := range []string{"Not on sale", "<h2>Hết</h2>", "noindex", "₫59,000"} {
		if strings.Contains(body, not) {
			t.Errorf("the menu has %s", not)
		}
	}
	vi := ask(t, s, "/menu/quan-hoa-hue", "Accept-Language", "vi").Body.String()
	has(t, "the menu", vi, "Phở bò &lt;/script&gt;", "65.000\u00a0₫")
	menu := data(t, vi)
	section := menu["hasMenuSection"].([]any)[0].(map[string]any) //nolint:forcetypeassert // fails loudly
	item := section["hasMenuItem"].([]any)[0].(map[string]any)    //nolint:forcetypeassert // fails loudly
	offer := item["offers"].(map[string]any)                      //nolint:forcetypeassert // fails loudly
	if menu["@type"] != "Menu" || section["name"] != "Phở" || item["name"] != "Phở bò </script>" || offer["price"] != "65000" ||
		offer["priceCurrency"] != "VND" {
		t.Errorf("the data is %v", menu)
	}
	for _, path := range []string{"/menu/8", "/menu/99", "/menu/x", "/menu/-1", "/menu/quan-hoa-vinh", "/menu/%F0%9F%8D%9C", "/menu/a%2Fb"} {
		if w := ask(t, s, path); w.Code != http.StatusNotFound {
			t.Errorf("GET %s: status %d, want 404", path, w.Code)
		}
	}
}

// The number of a branch, a former slug and another spelling redirect to the current address, in the chosen language.
func TestMenu_addresses(t *testing.T) {
	s := newSite(t, brand.Brand{})
	for path, want := range map[string]string{
		"/menu/7": "/menu/quan-hoa-hue", "/menu/7?lang=en": "/menu/quan-hoa-hue?lang=en", "/menu/quan-cu": "/menu/quan-hoa-hue",
		"/menu/Qu%C3%A1n-Hoa-Hu%E1%BA%BF?lang=vi": "/menu/quan-hoa-hue?lang=vi", "/menu/quan-hoa-hue-": "/menu/quan-hoa-hue",
	} {
		w := ask(t, s, path)
		if w.Code != http.StatusPermanentRedirect || w.Header().Get("Location") != want || w.Header().Get("Cache-Control") != "no-cache" {
			t.Errorf("GET %s: status %d with headers %v, want 308 to %s", path, w.Code, w.Header(), want)
		}
	}
	testenv.Equal(t, http.StatusOK, ask(t, s, "/menu/quan-hoa-hue").Code)
}

// Special hours are shown two weeks ahead, in the language of the visitor and as structured data for search engines.
func TestHome_special_hours(t *testing.T) {
	s := newSite(t, brand.Brand{})
	for lang, wants := range map[string][]string{
		"en": {
			"<caption>Special hours</caption>", `<tr><th scope="row">Tuesday, 24 November</th><td>Closed<span class="note">Lễ &lt;khai trương&gt;</span></td></tr>` +
				`<tr><th scope="row">Thursday, 26 November</th><td>10:00–12:00, 18:00–01:00</td></tr>` +
				`<tr><th scope="row">Monday, 7 December</th><td>Open at all hours</td></tr></table>`,
		},
		"vi":      {"Giờ mở cửa đặc biệt", "Thứ ba, 24/11", "Thứ năm, 26/11"},
		"zh-Hant": {"特殊營業時間", "11月24日（星期二）", "12月7日（星期一）"},
	} {
		has(t, lang, ask(t, s, "/?lang="+lang).Body.String(), wants...)
	}
	graph := data(t, ask(t, s, "/").Body.String())["@graph"].([]any) //nolint:forcetypeassert // fails loudly
	var got []string
	for _, restaurant := range graph {
		for _, property := range []string{"specialOpeningHoursSpecification", "openingHoursSpecification"} {
			list, _ := restaurant.(map[string]any)[property].([]any)
			for _, one := range list {
				o := one.(map[string]any) //nolint:forcetypeassert // fails loudly
				if o["@type"] != "OpeningHoursSpecification" || o["validFrom"] != o["validThrough"] {
					t.Errorf("hours = %v, want a specification of one day", o)
				}
				got = append(got, fmt.Sprint(cmp.Or(o["validFrom"], o["dayOfWeek"]), " ", o["opens"], "-", o["closes"]))
			}
		}
	}
	day := "https://schema.org/"
	want := []string{
		"2026-11-24 00:00-00:00", "2026-11-26 10:00-12:00", "2026-11-26 18:00-01:00", "2026-12-07 00:00-23:59",
		day + "Monday 11:00-14:00", day + "Monday 17:00-22:00", day + "Saturday 06:00-05:59", day + "Sunday 11:00-14:00",
		day + "Tuesday 09:00-12:00",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
}

func TestRobots_and_sitemap(t *testing.T) {
	s := newSite(t, brand.Brand{})
	has(t, "robots.txt", ask(t, s, "/robots.txt").Body.String(), "User-agent: *", "Disallow: /console\n", "Disallow: /shop\n",
		"Sitemap: https://quanhoa.vn/sitemap.xml")
	for rule := range strings.Lines(ask(t, s, "/robots.txt").Body.String()) {
		path, ok := strings.CutPrefix(strings.TrimSpace(rule), "Disallow: ")
		for _, public := range []string{"/", "/menu/quan-hoa-hue", "/media/dishes/1", "/sitemap.xml"} {
			if ok && strings.HasPrefix(public, path) {
				t.Errorf("robots.txt has %q, which covers the public address %s", rule, public)
			}
		}
	}
	w := ask(t, s, "/sitemap.xml")
	has(t, "the sitemap", w.Body.String(), "<loc>https://quanhoa.vn/</loc>", "<loc>https://quanhoa.vn/menu/quan-hoa-hue?lang=vi</loc>",
		`xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"`)
	if strings.Contains(w.Body.String(), "/menu/7") || strings.Contains(w.Body.String(), "vinh") || w.Header().Get("Content-Type") != "application/xml" {
		t.Errorf("sitemap: headers %v, body %s, want only addresses of open branches", w.Header(), w.Body)
	}
}
