package e2e

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"comanda/internal/catalog"
	"comanda/internal/testenv"
)

// A restaurant is set up in an empty database: branch, tables, category, dish and menu. Every page of the staff answers
// from the first moment. Then a guest orders and pays.
func TestNewRestaurant(t *testing.T) {
	onInstallations(t, func(t *testing.T, k kind) {
		s := bare(t, k, settings{"SANDBOX_PAYMENTS": "on"})
		s.servers[0].args = nil // without the demo
		s.servers[0].start()
		var made struct{ ID, Name, Currency, Timezone, Country string }
		s.staff(http.MethodPost, "/api/branches", map[string]any{"name": "Diner", "country": "US"}).
			want(t, http.StatusUnprocessableEntity, "timezone_required")
		s.staff(http.MethodPost, "/api/branches", map[string]any{"name": "Quán Hoa", "country": "VN", "locales": []string{"vi", "en"}}).
			want(t, http.StatusCreated, "").into(t, &made)
		if made.ID != "1" || made.Name != "Quán Hoa" || made.Currency != "VND" || made.Timezone != "Asia/Ho_Chi_Minh" || made.Country != "VN" {
			t.Errorf("the branch is %+v", made)
		}
		s.wantEmptyAnswers()
		s.addTables()
		s.publishFirstMenu()

		s.readMenu()
		g := s.guest(0)
		o := g.mustPlace(t, line{ItemID: s.bill.Categories[0].Items[0].ItemID, Qty: 2})
		s.pay(o.ID)
		if o := g.get(o.ID).order(t); o.PaymentStatus != "PAID" || o.Total != 130000 || o.Currency != "VND" {
			t.Errorf("the first order is %+v", o)
		}
		s.branchCommands()
	}, embedded, servers)
}

// wantEmptyAnswers reads everything that the console shows of a branch without data.
func (s *installation) wantEmptyAnswers() {
	s.t.Helper()
	for _, path := range []string{
		"/api/branches/1", "/api/branches/1/availability", "/api/boards/1", "/api/tables?branchId=1", "/api/visits?branchId=1",
		"/api/menus?branchId=1", "/api/orders?branchId=1", "/api/stock/items?branchId=1", "/api/stock/reservations?branchId=1",
		"/api/reports/sales-days?branchId=1&from=2026-02-26&to=2026-02-26", "/api/payments?branchId=1",
		"/api/payments/exceptions?branchId=1", "/branches", "/categories", "/dishes",
	} {
		s.staff(http.MethodGet, path, nil).want(s.t, http.StatusOK, "")
	}
	s.send(http.MethodPost, "/cis/menu/active", map[string]string{"branchId": "1"}).
		want(s.t, http.StatusNotFound, "menu_not_found") // phones show that there is no menu
	s.staff(http.MethodGet, "/api/tables/qr-sheet?branchId=1", nil).want(s.t, http.StatusNotFound, "table_not_found")
}

// addTables creates tables by HTTP and by the command. Labels in use refuse the whole request.
func (s *installation) addTables() {
	t := s.t
	t.Helper()
	bulk := func(labels string) answer {
		return s.staff(http.MethodPost, "/api/branches/1/tables/bulk", map[string]any{"labels": labels, "seats": 2})
	}
	bulk("A1-A8").want(t, http.StatusCreated, "")
	bulk("A8-A9,B1,B1").want(t, http.StatusConflict, "table_label_taken")
	var links []struct {
		Branch  string `json:"branchId"`
		Label   string `json:"label"`
		QR      string `json:"qrToken"`
		Section string `json:"section"`
		URL     string `json:"url"`
	}
	s.readJSON(&links, "tables", "add", "--branch", "1", "--labels", "T01-T04", "--section", "Terrace")
	if len(links) != 4 || links[3].Label != "T04" || links[3].Branch != "1" || links[3].Section != "Terrace" || links[0].URL != "http://"+s.servers[0].addr+"/m/"+links[0].QR {
		t.Errorf("links = %+v, want T01 to T04 of the Terrace in branch 1", links)
	}
	s.wantFailure("in use: A1, A2", "tables", "add", "--branch", "1", "--labels", "A1-A2,C1")
	s.wantFailure("branch_not_found", "tables", "add", "--branch", "7", "--labels", "C1")
	if s.readJSON(&links, "tables"); len(links) != 12 {
		t.Errorf("%d tables after refusals", len(links))
	}
}

// publishFirstMenu creates a category with a dish and publishes the branch's first menu.
func (s *installation) publishFirstMenu() {
	t := s.t
	t.Helper()
	create := func(path string, body any) (id string) {
		var made struct{ ID, ItemID string }
		s.staff(http.MethodPost, path, body).want(t, http.StatusCreated, "").into(t, &made)
		return made.ID
	}
	names := map[string]string{"vi": "Phở bò", "en": "Beef pho"}
	category := create("/api/categories", map[string]any{"names": names})
	dish := create("/api/dishes", map[string]any{"categoryId": category, "names": names})
	menu := create("/api/menus", map[string]any{"branchId": "1", "name": "Menu"})
	draft := create("/api/menus/"+menu+"/versions", map[string]any{})
	create("/api/menu-versions/"+draft+"/items", map[string]any{"dishId": dish, "price": 65000, "dailyQuota": 9, "isActive": true})
	s.staff(http.MethodPost, "/api/menu-versions/"+draft+"/publish", map[string]any{}).want(t, http.StatusOK, "")
}

// branchCommands creates a second branch beside the server, which shows it and its changes within seconds.
func (s *installation) branchCommands() {
	t := s.t
	t.Helper()
	var made struct{ ID, Name, Country string }
	s.readJSON(&made, "branch", "create", "--name", "Diner", "--country", "US", "--timezone", "America/Chicago", "--locales", "en")
	if made.ID != "2" || made.Name != "Diner" || made.Country != "US" {
		t.Errorf("created branch = %+v, want 2, Diner in US", made)
	}
	s.wantFailure("timezone_required", "branch", "create", "--name", "Diner", "--country", "US")
	s.wantFailure("country_unknown", "branch", "create", "--name", "Diner", "--country", "XX")
	hours := filepath.Join(t.TempDir(), "hours.json")
	testenv.NoError(t, os.WriteFile(hours, []byte(`{"weekly":{"fri":[{"from":"17:00","to":"01:00"}]}}`), 0o600))
	s.readJSON(&made, "branch", "set", "2", "--name", "Corner Diner", "--open", "false", "--hours", hours)
	s.await(patience, func() error {
		var now struct {
			Name  string               `json:"name"`
			Open  bool                 `json:"isOpen"`
			Hours catalog.OpeningHours `json:"openingHours"`
		}
		if s.staff(http.MethodGet, "/api/branches/2", nil).into(t, &now); now.Name != "Corner Diner" || now.Open || len(now.Hours.Weekly["fri"]) != 1 {
			return fmt.Errorf("the server shows %+v", now)
		}
		return nil
	})
	var all []struct{ ID string }
	if s.readJSON(&all, "branch", "list"); len(all) != 2 {
		t.Errorf("branches: %+v", all)
	}
}
