package cataloghttp

import (
	"encoding/json"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"comanda/internal/catalog"
	"comanda/internal/menufile"
	"comanda/internal/testenv"
)

func (s *site) importMenu(t *testing.T, query, body, contentType string) *httptest.ResponseRecorder {
	t.Helper()
	return s.ask(t, "POST", "/api/branches/1/menu/import"+query, body, "Authorization", "Bearer "+serviceToken, "Content-Type", contentType)
}

func TestConsole_menu_import(t *testing.T) {
	s := newConsole(t)
	file := "category,name,price,name:en\nPhở,Phở tái,65.000,Rare beef pho\n"
	wrong := "category,name,price\nPhở,Phở tái,cheap\n"
	if got := decode[catalog.MenuImportResult](t, s.importMenu(t, "?dryRun=true", wrong, "text/csv"), 200); len(got.Problems) != 1 {
		t.Errorf("a dry run: %+v", got)
	}
	w := s.importMenu(t, "?publish=true", wrong, "text/csv")
	var p struct {
		Code             string
		Created, Updated *int
		Problems         []menufile.CellProblem
	}
	if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || w.Code != 422 || p.Code != "menu_file_problems" || p.Created == nil || *p.Created != 0 {
		t.Errorf("import: status %d with body %s, want 422 menu_file_problems", w.Code, w.Body)
	}
	want := []menufile.CellProblem{{Row: 2, Column: "price", Code: menufile.PriceUnreadable, Message: `"cheap": This is not a price.`}}
	testenv.Equal(t, want, p.Problems)
	for _, c := range []struct{ query, want string }{
		{"?dryRun=1&publish=true", `{"created":1,"updated":0,"problems":[],"rows":[{"key":"phở-tái",` +
			`"name":{"en":"Rare beef pho","vi":"Phở tái"},"category":{"en":"Pho","vi":"Phở","zh-TW":"越南河粉"},"price":65000,` +
			`"previousPrice":null,"change":"created"}],"totalRows":1}`},
		{"?publish=true", `{"created":1,"updated":0,"problems":[]}`},
	} {
		w := s.importMenu(t, c.query, file, "text/csv")
		if body := w.Body.String(); w.Code != 200 || body != c.want {
			t.Errorf("import%s: status %d with body %s, want 200 with %s", c.query, w.Code, body, c.want)
		}
	}
	s.expireMenus()
	if menu := s.ask(t, "POST", "/cis/menu/active?locale=en", `{"branchId":"1"}`).Body.String(); !strings.Contains(menu, "Rare beef pho") {
		t.Error("guests do not see the dish")
	}
	body, kind := form(t, "menu", []byte(file))
	if got := decode[catalog.MenuImportResult](t, s.importMenu(t, "", body, kind), 200); got.Created+got.Updated != 0 {
		t.Errorf("the same as a form: %+v", got)
	}
	wantStatus(t, s.ask(t, "POST", "/api/branches/1/menu/import", file), 401, "unauthenticated")
	wantStatus(t, s.importMenu(t, "?dryRun=perhaps", file, "text/csv"), 422, "invalid")
	wantStatus(t, s.importMenu(t, "?menuId=lunch", file, "text/csv"), 422, "invalid")
	wantStatus(t, s.importMenu(t, "?menuId=99", file, "text/csv"), 404, "menu_not_found")
	other, otherKind := form(t, "cv", []byte(file))
	wantStatus(t, s.importMenu(t, "", other, otherKind), 422, "menu_file_missing")
	wantStatus(t, s.importMenu(t, "", body[:len(body)-30], kind), 422, "menu_file_unreadable")
	wantStatus(t, s.importMenu(t, "", strings.Repeat("x", menufile.MaxArchive+1), "text/csv"), 422, "menu_file_too_large")
	wantStatus(t, s.ask(t, "POST", "/api/branches/99/menu/import", file, "Authorization", "Bearer "+serviceToken), 404, "branch_not_found")
	wantStatus(t, s.ask(t, "POST", "/api/branches/x/menu/import", file, "Authorization", "Bearer "+serviceToken), 404, "branch_not_found")
}

func TestConsole_menu_export(t *testing.T) {
	s := newConsole(t)
	for _, c := range []struct{ path, contentType, name string }{
		{"export", "text/csv; charset=utf-8", "comanda-1-menu.csv"},
		{"export?format=xlsx", menufile.XLSX.ContentType(), "comanda-1-menu.xlsx"},
		{"template?format=csv", "text/csv; charset=utf-8", "comanda-1-template.csv"},
	} {
		w := s.asService(t, "GET", "/api/branches/1/menu/"+c.path, "")
		if w.Code != 200 || w.Header().Get("Content-Type") != c.contentType || !strings.Contains(w.Header().Get("Content-Disposition"), `"`+c.name+`"`) {
			t.Errorf("%s: status %d with headers %v, want %s in %s", c.path, w.Code, w.Header(), c.contentType, c.name)
		}
		got := decode[catalog.MenuImportResult](t, s.importMenu(t, "?dryRun=true", w.Body.String(), c.contentType), 200)
		if len(got.Problems) > 0 || strings.HasPrefix(c.path, "export") && got.Created+got.Updated > 0 {
			t.Errorf("%s is imported as %+v", c.path, got)
		}
	}
	wantStatus(t, s.asService(t, "GET", "/api/branches/1/menu/export?format=pdf", ""), 422, "invalid")
	wantStatus(t, s.asService(t, "GET", "/api/branches/1/menu/export?menuId=-1", ""), 422, "invalid")
	wantStatus(t, s.asService(t, "GET", "/api/branches/99/menu/export", ""), 404, "branch_not_found")
	wantStatus(t, s.asService(t, "POST", "/api/branches/2/menu/copy", `{"fromBranchId":"1"}`), 409, "currencies_differ")
	wantStatus(t, s.asService(t, "POST", "/api/branches/1/menu/copy", `{"fromBranchId":"1","fromMenuId":"99"}`), 404, "menu_not_found")
	wantStatus(t, s.asService(t, "POST", "/api/branches/1/menu/copy", `{"fromBranchId":"1","menuId":"99"}`), 404, "menu_not_found")
	wantStatus(t, s.asService(t, "POST", "/api/branches/1/menu/copy", `{"fromBranchId":"1","menuId":"x"}`), 422, "invalid")
	// Another menu is created, filled by a copy and a file, and read.
	lunch := decode[struct{ ID string }](t, s.asService(t, "POST", "/api/menus", `{"branchId":"1","name":"Lunch"}`), 201).ID
	full := s.asService(t, "GET", "/api/branches/1/menu/export", "").Body.String()
	r := decode[catalog.MenuImportResult](t, s.asService(t, "POST", "/api/branches/1/menu/copy", `{"fromBranchId":"1","menuId":"`+lunch+`"}`), 200)
	if r.Created == 0 {
		t.Errorf("onto another menu: %+v", r)
	}
	testenv.Equal(t, full, s.asService(t, "GET", "/api/branches/1/menu/export?menuId="+lunch, "").Body.String())
	added := s.importMenu(t, "?menuId="+lunch, "category,name,price\nPhở,Phở trưa,65k\n", "text/csv")
	if got := decode[catalog.MenuImportResult](t, added, 200); got.Created != 1 {
		t.Errorf("a file for another menu: %+v", got)
	}
	if file := s.asService(t, "GET", "/api/branches/1/menu/export?menuId="+lunch, "").Body.String(); !strings.Contains(file, "Phở trưa") {
		t.Errorf("the exported file lacks the new dish: %s", file)
	}
	testenv.Equal(t, full, s.asService(t, "GET", "/api/branches/1/menu/export", "").Body.String())
	if got := decode[catalog.MenuImportResult](t, s.asService(t, "POST", "/api/branches/1/menu/copy", `{"fromBranchId":"1"}`), 200); got.Created+got.Updated != 0 {
		t.Errorf("onto itself: %+v", got)
	}
}

func TestConsole_menu_templates(t *testing.T) {
	s := newConsole(t)
	offered := decode[menuTemplates](t, s.asService(t, "GET", "/api/branches/1/menu/templates", ""), 200)
	i := slices.IndexFunc(offered.Items, func(m readyMenu) bool { return m.Name == "pho" })
	if i < 0 || offered.Currency != "VND" {
		t.Fatalf("templates = %+v, want pho in VND", offered)
	}
	pho := offered.Items[i]
	if pho.Dishes != len(pho.Items) || pho.Dishes < 20 || pho.Categories < 3 || pho.Items[0].Price != 65000 || pho.Items[0].Name["vi"] != "Phở tái" {
		t.Errorf("template pho = %+v, want at least 20 dishes, the first one Phở tái for 65000", pho)
	}
	importIt := func(body string) *httptest.ResponseRecorder {
		return s.asService(t, "POST", "/api/branches/1/menu/templates", body)
	}
	for _, c := range []struct {
		body    string
		created int
	}{{`{"name":"pho","dryRun":true}`, pho.Dishes}, {`{"name":"pho","publish":true}`, pho.Dishes}, {`{"name":"pho"}`, 0}} {
		if got := decode[catalog.MenuImportResult](t, importIt(c.body), 200); got.Created != c.created || got.Updated != 0 || len(got.Problems) > 0 {
			t.Errorf("import of %s = %+v, want %d created", c.body, got, c.created)
		}
	}
	s.expireMenus()
	menu := s.ask(t, "POST", "/cis/menu/active?locale=en", `{"branchId":"1"}`).Body.String()
	for _, text := range []string{`"Rare beef pho"`, `"Bowl"`, `"Extra meat"`, `"price":20000`} {
		if !strings.Contains(menu, text) {
			t.Errorf("guests do not see %s in %s", text, menu)
		}
	}
	if file := s.asService(t, "GET", "/api/branches/1/menu/export", "").Body.String(); !strings.Contains(file, "options:en") ||
		!strings.Contains(file, "Bowl: Large bowl | Extras: Extra meat;") || !strings.Contains(file, "ALCOHOL") {
		t.Errorf("the exported file lacks the options in English: %s", file)
	}
	wantStatus(t, importIt(`{"name":"pizza"}`), 422, "menu_template_unknown")
	wantStatus(t, s.asService(t, "GET", "/api/branches/99/menu/templates", ""), 404, "branch_not_found")
	wantStatus(t, s.asService(t, "POST", "/api/branches/99/menu/templates", `{"name":"pho"}`), 404, "branch_not_found")
}
