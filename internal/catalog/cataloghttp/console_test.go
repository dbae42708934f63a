package cataloghttp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"image"
	"image/jpeg"
	"io"
	"log/slog"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"comanda/internal/authz"
	"comanda/internal/authz/authzhttp"
	"comanda/internal/catalog"
	"comanda/internal/catalog/catalogsql"
	"comanda/internal/catalog/catalogtest"
	"comanda/internal/demo"
	"comanda/internal/httpapi"
	"comanda/internal/picture"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/testenv"
)

// counters is a catalog.CounterReader: three phở bò are held, and one is in a cart.
type counters struct{}

func (counters) Counters(context.Context, int64, string) ([]catalog.Counter, error) {
	return []catalog.Counter{{Item: 11, Cap: new(int64(20)), Held: 3, Used: 2}}, nil
}

func (counters) Impact(context.Context, catalog.ItemRef, string, int64) (catalog.OffImpact, error) {
	return catalog.OffImpact{Holds: 2, Units: 3, Carts: 1}, nil
}

// newConsole is a site over the demo's catalog on SQLite.
func newConsole(t *testing.T) *site {
	t.Helper()
	db := sqldbtest.SQLite(t)
	testenv.NoError(t, demo.Load(t.Context(), db))
	s := &site{left: &catalogtest.Levels{}, tables: &tables{}, clock: testenv.NewClock()}
	conf := httpapi.Default()
	conf.ServiceToken, conf.AccessLog = serviceToken, false
	server := testenv.Must(httpapi.New(conf, slog.New(slog.DiscardHandler), prometheus.NewRegistry()))(t)
	server.SetAuthenticator(authzhttp.Authenticator{})
	store := catalogsql.New(db, nil)
	menus := catalog.NewMenuCache(store, catalog.NoSharedCache{}, s.clock.Now)
	live := catalog.NewLiveMenus(menus, s.left, s.clock.Now)
	dark := picture.NewProcessor()
	RegisterGuest(server.API(), live, s.tables)
	resize := func(ctx context.Context, raw []byte) (catalog.Image, error) {
		id, made, err := dark.Process(ctx, raw, picture.Size{Width: 960, Bytes: 1 << 20}, picture.Size{Width: 320, Bytes: 20 << 10})
		if err != nil {
			return catalog.Image{}, err
		}
		return catalog.Image{ID: id, Sizes: map[int][]byte{960: made[0], 320: made[1]}}, nil
	}
	RegisterStaff(server.API(), Services{
		Branches:     &catalog.BranchAdmin{Store: store, Menus: menus, Now: s.clock.Now},
		Dishes:       &catalog.DishService{Store: store, Menus: menus, Now: s.clock.Now},
		Options:      &catalog.OptionService{Store: store, Menus: menus, Now: s.clock.Now},
		Menus:        &catalog.MenuEditor{Store: store, Menus: menus, Now: s.clock.Now},
		Availability: &catalog.Availability{Store: store, Options: store, Counters: counters{}, LiveMenus: live, Menus: menus, Now: s.clock.Now},
		Images:       &catalog.Images{Store: store, Now: s.clock.Now, Resize: resize},
		Files:        &catalog.MenuFiles{Store: store, Menus: menus, Now: s.clock.Now, Resize: resize, Templates: catalog.MenuTemplates()},
	})
	s.Handler = server
	return s
}

// asService sends a request with the service token.
func (s *site) asService(t *testing.T, method, path, body string) *httptest.ResponseRecorder {
	t.Helper()
	return s.ask(t, method, path, body, "Authorization", "Bearer "+serviceToken)
}

// decode decodes a response and fails unless it has the status.
func decode[T any](t *testing.T, w *httptest.ResponseRecorder, status int) (v T) {
	t.Helper()
	if w.Code != status {
		t.Fatalf("%d %s, want %d", w.Code, w.Body, status)
	}
	if status != http.StatusNoContent {
		testenv.NoError(t, json.Unmarshal(w.Body.Bytes(), &v))
	}
	return v
}

type object = map[string]any

// A category names the branches that have its dishes on a menu, of those that the caller works in.
func TestCategories_name_their_branches(t *testing.T) {
	db := sqldbtest.SQLite(t)
	testenv.NoError(t, demo.Load(t.Context(), db))
	s := &staff{Services{Dishes: &catalog.DishService{Store: catalogsql.New(db, nil)}}}
	branchesFor := func(a authz.Actor, category string) []string {
		in := &httpapi.LongPaging{Page: 1, Size: 100}
		list := testenv.Must(s.categories(authz.WithActor(t.Context(), a), in))(t)
		for _, c := range list.Items {
			if c.ID == category {
				return c.BranchIDs
			}
		}
		return nil
	}
	testenv.Equal(t, []string{"1"}, branchesFor(authz.System(), "4"))
	testenv.Equal(t, []string{"2"}, branchesFor(authz.System(), "9"))
	manager := authz.Actor{Kind: authz.Account, UserID: 3, Branches: []int64{1}}
	testenv.Equal(t, []string{"1"}, branchesFor(manager, "4"))
	testenv.Equal(t, 0, len(branchesFor(manager, "9")))
}

// A dish is created, put on a draft, previewed and published, and guests see it.
func TestConsole_from_dish_to_menu(t *testing.T) {
	s := newConsole(t)
	category := decode[categoryInfo](t, s.asService(t, "POST", "/api/categories", `{"names":{"vi":"Chè","en":"Sweets"},"sort":0}`), 201)
	dish := decode[dish](t, s.asService(t, "POST", "/api/dishes",
		`{"categoryId":"`+category.ID+`","names":{"vi":"Chè bưởi","en":"Pomelo sweet soup"}}`), 201)
	draft := decode[Version](t, s.asService(t, "POST", "/api/menus/1/versions", ""), 201)
	added := decode[line](t, s.asService(t, "POST", "/api/menu-versions/"+draft.ID+"/items",
		`{"dishId":"`+dish.ID+`","price":30000,"dailyQuota":4,"isActive":true}`), 201)
	if added.DishID != dish.ID || added.CategoryNames[catalog.English] != "Sweets" || *added.DailyQuota != 4 {
		t.Errorf("added line = %+v, want dish %s in Sweets with quota 4", added, dish.ID)
	}
	decode[entry](t, s.asService(t, "PUT", "/api/menu-versions/"+draft.ID+"/items/"+added.ItemID,
		`{"price":35000,"dailyQuota":4,"isActive":true,"sort":3}`), 200)
	all := decode[struct {
		ID     string
		Status string
		Items  []line
		Total  int
	}](t, s.asService(t, "GET", "/api/menu-versions/"+draft.ID, ""), 200)
	if all.ID != draft.ID || all.Status != "DRAFT" || all.Total != len(all.Items) || all.Items[0].ItemID != added.ItemID ||
		all.Items[0].Price != 35000 || all.Items[0].Sort != 3 {
		t.Errorf("first line of the draft = %+v, want item %s for 35000 in position 3", all.Items[0], added.ItemID)
	}
	want := `{"itemId":"` + added.ItemID + `","dishId":"` + dish.ID + `","name":"Pomelo sweet soup","description":"",` +
		`"imageUrl":null,"price":35000,"isActive":true,"isSoldOut":false,"remaining":4,"allergens":null,"diets":[]}`
	preview := s.asService(t, "GET", "/api/menu-versions/"+draft.ID+"/preview?locale=en", "")
	if preview.Code != 200 || !strings.Contains(preview.Body.String(), want) || preview.Header().Get("Content-Type") != "application/json" {
		t.Errorf("the preview is %d %s", preview.Code, preview.Body)
	}
	if before := s.ask(t, "POST", "/cis/menu/active?locale=en", `{"branchId":"1"}`); strings.Contains(before.Body.String(), "Pomelo") {
		t.Error("guests see the draft")
	}
	decode[Version](t, s.asService(t, "POST", "/api/menu-versions/"+draft.ID+"/publish", ""), 200)
	s.expireMenus()
	if after := s.ask(t, "POST", "/cis/menu/active?locale=en", `{"branchId":"1"}`); !strings.Contains(after.Body.String(), want) {
		t.Errorf("guests see %s", after.Body)
	}
	list := decode[httpapi.Listed[Version]](t, s.asService(t, "GET", "/api/menus/1/versions?size=1", ""), 200)
	if list.Total != 2 || len(list.Items) != 1 || list.Items[0].Status != catalog.Published {
		t.Errorf("versions = %+v, want one of two, published", list)
	}
	menus := decode[httpapi.Listed[menuInfo]](t, s.asService(t, "GET", "/api/menus?branchId=1", ""), 200)
	if menus.Total != 1 || *menus.Items[0].Published != draft.ID || menus.Items[0].Drafts != 0 {
		t.Errorf("menus = %+v, want one, version %s published, no draft", menus, draft.ID)
	}
	wantStatus(t, s.asService(t, "DELETE", "/api/dishes/"+dish.ID, ""), 409, "dish_in_use")
	wantStatus(t, s.asService(t, "DELETE", "/api/categories/"+category.ID, ""), 409, "category_in_use")
	wantStatus(t, s.asService(t, "DELETE", "/api/menu-versions/"+draft.ID, ""), 409, "menu_version_not_draft")
	second := decode[Version](t, s.asService(t, "POST", "/api/menus/1/versions", ""), 201)
	decode[object](t, s.asService(t, "DELETE", "/api/menu-versions/"+second.ID+"/items/"+added.ItemID, ""), 204)
	decode[object](t, s.asService(t, "DELETE", "/api/menu-versions/"+second.ID, ""), 204)
	wantStatus(t, s.asService(t, "GET", "/api/menu-versions/"+second.ID, ""), 404, "menu_version_not_found")
}

func TestConsole_pause(t *testing.T) {
	s := newConsole(t)
	b := decode[branch](t, s.asService(t, "POST", "/api/branches/1/pause",
		`{"reasons":{"vi":"Mất điện","en":"Power cut"},"until":"2026-02-26T05:30:00Z"}`), 200)
	if b.Paused == nil || b.Paused.Reasons[catalog.English] != "Power cut" || !b.Paused.Until.Equal(s.clock.Now().Add(30*time.Minute)) || b.Paused.By != "service" {
		t.Errorf("pause = %+v, want Power cut by service for 30 minutes", b.Paused)
	}
	shown := func(locale string) *paused {
		t.Helper()
		return decode[menu](t, s.ask(t, "POST", "/cis/menu/active?locale="+locale, `{"branchId":"1"}`), 200).Paused
	}
	if p := shown("en"); *p.Reason != "Power cut" || p.ReasonCode != nil || !p.Until.Equal(s.clock.Now().Add(30*time.Minute)) {
		t.Errorf("guests see %+v", p)
	}
	s.expireMenus()
	if b := decode[branch](t, s.asService(t, "POST", "/api/branches/1/pause", `{"reasonCode":"BUSY"}`), 200); *b.Paused.ReasonCode != "BUSY" || b.Paused.Until != nil {
		t.Errorf("pause = %+v, want BUSY without an end", b.Paused)
	}
	s.expireMenus()
	if p := shown("vi"); *p.ReasonCode != "BUSY" || p.Reason != nil || p.Until != nil {
		t.Errorf("guests see %+v", p)
	}
	if b := decode[branch](t, s.asService(t, "POST", "/api/branches/1/resume", ""), 200); b.Paused != nil {
		t.Errorf("pause after resume = %+v, want none", b.Paused)
	}
	s.expireMenus()
	if p := shown("vi"); p != nil {
		t.Errorf("guests see %+v", p)
	}
	if got := decode[branch](t, s.asService(t, "PATCH", "/api/branches/1", `{"name":"Phố cổ","isOpen":false}`), 200); got.Name != "Phố cổ" || got.IsOpen {
		t.Errorf("PATCH = %+v, want a closed branch Phố cổ", got)
	}
}

func TestConsole_86(t *testing.T) {
	s := newConsole(t)
	w := s.asService(t, "POST", "/api/menu-items/11/86", `{"until":"END_OF_DAY"}`)
	want := `{"itemId":"11","since":"2026-02-26T05:00:00Z","eightySixedUntil":"2026-02-26T21:00:00Z","eightySixedBy":"service",` +
		`"holds":2,"heldUnits":3,"carts":1}`
	if d := cmp.Diff(want, strings.TrimSpace(w.Body.String())); w.Code != 200 || d != "" {
		t.Errorf("86: status %d, body (-want +got):\n%s", w.Code, d)
	}
	page := decode[branchAvailability](t, s.asService(t, "GET", "/api/branches/1/availability", ""), 200)
	if page.BizDate != "2026-02-26" || page.Total != len(page.Items) || page.Items[0].ItemID != "11" {
		t.Fatalf("availability = %+v, want item 11 first on 2026-02-26", page)
	}
	if it := page.Items[0]; *it.Cap != 0 || it.Held != 3 || it.Used != 2 || *it.Left != 0 || *it.DailyQuota != 20 || *it.OffBy != "service" ||
		it.CategoryNames.In(catalog.English) != "Pho" {
		t.Errorf("item 11 = %+v, want cap 0, held 3, used 2, none left, off by service", it)
	}
	if it := page.Items[1]; it.Cap != nil || it.Left != nil || it.OffUntil != nil {
		t.Errorf("second item = %+v, want one on the menu without a cap", it)
	}
	if body := s.ask(t, "POST", "/cis/menu/active", `{"branchId":"1"}`).Body.String(); !strings.Contains(body, `"isSoldOut":true,"remaining":0`) {
		t.Errorf("menu = %s, want item 11 sold out", body)
	}
	decode[restored](t, s.asService(t, "POST", "/api/menu-items/11/restore", ""), 200)
	s.expireMenus()
	if body := s.ask(t, "POST", "/cis/menu/active", `{"branchId":"1"}`).Body.String(); strings.Contains(body, `"isSoldOut":true`) {
		t.Errorf("menu after the restoration = %s, want no sold-out item", body)
	}
}

func TestConsole_refuses(t *testing.T) {
	s := newConsole(t)
	for _, tt := range []struct {
		method, path, body string
		status             int
		code               string
	}{
		{"GET", "/api/branches/9", "", 404, "branch_not_found"},
		{"PATCH", "/api/branches/1", `{"name":""}`, 422, "invalid"},
		{"PATCH", "/api/branches/1", `{"bizDayStartHour":13}`, 409, "biz_day_running"},
		{"PATCH", "/api/branches/1", `{"currency":"XXX"}`, 422, "invalid"},
		{"PATCH", "/api/branches/1", `{"openingHours":{"weekly":{"mon":[{"from":"9","to":"10:00"}]},"exceptions":[]}}`, 422, "invalid"},
		{"PATCH", "/api/branches/1", `{"openingHours":{"weekly":{"noon":[]},"exceptions":[]}}`, 422, "invalid"},
		{"POST", "/api/branches/1/pause", `{}`, 422, "invalid"},
		{"POST", "/api/branches/1/pause", `{"reasonCode":"TIRED"}`, 422, "invalid"},
		{"POST", "/api/branches/1/pause", `{"reasonCode":"BUSY","until":"2026-02-26T04:00:00Z"}`, 422, "invalid"},
		{"POST", "/api/menu-items/11/86", `{}`, 422, "invalid"},
		{"POST", "/api/menu-items/11/86", `{"until":"soon"}`, 422, "invalid"},
		{"POST", "/api/menu-items/999/86", `{"until":"RESTORED"}`, 404, "menu_item_not_found"},
		{"POST", "/api/menu-items/999/restore", "", 404, "menu_item_not_found"},
		{"POST", "/api/categories", `{}`, 422, "invalid"},
		{"POST", "/api/categories", `{"names":{"xx":"x"}}`, 422, "invalid"},
		{"PATCH", "/api/categories/999", `{"sort":1}`, 404, "category_not_found"},
		{"PATCH", "/api/categories/0", `{"names":{"en":"x"}}`, 422, "invalid"},
		{"POST", "/api/dishes", `{"categoryId":"999","names":{"en":"x"}}`, 404, "category_not_found"},
		{"POST", "/api/dishes", `{"categoryId":"x","names":{"en":"x"}}`, 422, "invalid"},
		{"POST", "/api/dishes", `{"categoryId":"1","names":{"en":"x"},"imageId":"../x"}`, 422, "image_unknown"},
		{"PATCH", "/api/dishes/999", `{"names":{"en":"x"}}`, 404, "dish_not_found"},
		{"PATCH", "/api/dishes/0", `{"names":{"en":"x"}}`, 422, "invalid"},
		{"GET", "/api/dishes?size=101", "", 422, "invalid"},

		{"POST", "/api/menus", `{"branchId":"9","name":"x"}`, 404, "branch_not_found"},
		{"POST", "/api/menus", `{"branchId":"1","name":""}`, 422, "invalid"},
		{"GET", "/api/menus/9/versions", "", 404, "menu_not_found"},
		{"PUT", "/api/menu-versions/5/items/11", `{"price":1,"dailyQuota":null,"isActive":true,"sort":-1}`, 422, "invalid"},
		{"POST", "/api/menu-versions/5/items", `{"dishId":"4","price":1,"dailyQuota":null,"isActive":true}`, 409, "menu_version_not_draft"},
	} {
		t.Run(tt.method+" "+tt.path+" "+tt.body, func(t *testing.T) {
			wantStatus(t, s.asService(t, tt.method, tt.path, tt.body), tt.status, tt.code)
		})
	}
}

// photo returns a JPEG of a size.
func photo(t *testing.T, w, h int) []byte {
	t.Helper()
	var b bytes.Buffer
	testenv.NoError(t, jpeg.Encode(&b, image.NewRGBA(image.Rect(0, 0, w, h)), nil))
	return b.Bytes()
}

// form encodes a file as a browser's form does.
func form(t *testing.T, field string, file []byte) (body, contentType string) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	part, err := w.CreateFormFile(field, "dish.jpg")
	if err == nil {
		_, err = part.Write(file)
	}
	testenv.NoError(t, errors.Join(err, w.Close()))
	return b.String(), w.FormDataContentType()
}

func (s *site) send(t *testing.T, body, contentType string) *httptest.ResponseRecorder {
	t.Helper()
	return s.ask(t, "POST", "/api/images", body, "Authorization", "Bearer "+serviceToken, "Content-Type", contentType)
}

func TestConsole_images(t *testing.T) {
	s := newConsole(t)
	raw := string(photo(t, 1200, 800))
	id := decode[uploadedImage](t, s.send(t, raw, "image/jpeg"), 201)
	body, kind := form(t, "image", []byte(raw))
	if again := decode[uploadedImage](t, s.send(t, body, kind), 201); again != id || id.ImageURL != "/media/"+id.ID+"-960.jpg" {
		t.Errorf("%+v and %+v", id, again)
	}
	d := decode[dish](t, s.asService(t, "PATCH", "/api/dishes/4", `{"imageId":"`+id.ID+`"}`), 200)
	if *d.ImageID != id.ID || *d.ImageURL != id.ImageURL {
		t.Errorf("PATCH of the dish = %+v, want image %s", d, id.ID)
	}
	s.expireMenus()
	if menu := s.ask(t, "POST", "/cis/menu/active", `{"branchId":"1"}`).Body.String(); !strings.Contains(menu, id.ImageURL) {
		t.Error("the menu does not show it")
	}
	wantStatus(t, s.ask(t, "POST", "/api/images", raw), 401, "unauthenticated")
	other, otherKind := form(t, "cv", []byte(raw))
	for name, c := range map[string]struct {
		body, kind string
		status     int
		code       string
	}{
		"nothing":             {"", "image/jpeg", 422, "image_unreadable"},
		"a script":            {"<svg onload=alert(1)>", "image/svg+xml", 422, "image_unreadable"},
		"a form without it":   {other, otherKind, 422, "image_missing"},
		"a broken form":       {body[:200], kind, 422, "image_unreadable"},
		"a form of no parts":  {body, "multipart/form-data", 422, "image_unreadable"},
		"one byte too many":   {strings.Repeat("x", httpapi.MaxImage+1), "image/jpeg", 422, "image_too_large"},
		"more than is read":   {strings.Repeat("x", httpapi.MaxImageForm+1), "image/jpeg", 413, "too_large"},
		"a JPEG that is torn": {raw[:len(raw)/2], "image/jpeg", 422, "image_unreadable"},
	} {
		t.Run(name, func(t *testing.T) { wantStatus(t, s.send(t, c.body, c.kind), c.status, c.code) })
	}
}

// Uploads beyond the limit are refused at once and do not disturb those under way.
func TestConsole_images_at_once(t *testing.T) {
	s := newConsole(t)
	raw := photo(t, 8, 8)
	var wg sync.WaitGroup
	var doors []*io.PipeWriter
	for range httpapi.MaxUploads {
		r, w := io.Pipe()
		doors = append(doors, w)
		req := httptest.NewRequestWithContext(t.Context(), "POST", "/api/images", r)
		req.Header.Set("Authorization", "Bearer "+serviceToken)
		wg.Go(func() {
			answer := httptest.NewRecorder()
			s.ServeHTTP(answer, req)
			if answer.Code != 201 {
				t.Errorf("upload: status %d with body %s, want 201", answer.Code, answer.Body)
			}
		})
		if _, err := w.Write(raw[:10]); err != nil { // the server is reading it
			t.Fatal(err)
		}
	}
	wantStatus(t, s.send(t, string(raw), "image/jpeg"), 503, "overloaded")
	for _, w := range doors {
		testenv.Must(w.Write(raw[10:]))(t)
		_ = w.Close()
	}
	wg.Wait()
	decode[uploadedImage](t, s.send(t, string(raw), "image/jpeg"), 201)
}
