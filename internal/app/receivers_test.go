package app

import (
	"bufio"
	"net/http"
	"strings"
	"testing"

	"comanda/internal/testenv"
)

// The receiver of an order is shown to staff who deliver it or hand it over. Cooks never see it: not on a ticket, in an
// order or in a list, nor by searching for a name or a phone.
func TestReceivers_withheld(t *testing.T) {
	f := newFixture(t)
	id := f.make("{memberorder}")
	f.must(f.ask("", "POST", "/cis/payments/mock-callback", `{"orderId":"`+id+`","method":"SANDBOX","result":"SUCCESS"}`))
	testenv.NoError(t, f.core.OrderReader.IndexNames(t.Context()))
	secrets := map[string]string{"name": `"Lan"`, "phone": "0912345678", "address": "12 Hàng Bạc", "note": "Gate 4711"}
	for account, sees := range map[string]bool{
		"kitchenA": false, "staffA": true, "cashierA": true, "managerA": true, "admin": true, "owner": true, "service": true,
	} {
		for path, fields := range map[string]string{
			"/api/orders/" + id:                       "name phone address note",
			"/api/boards/1":                           "name phone address note",
			"/api/orders?branchId=1":                  "name",
			"/api/orders?branchId=1&search=lan":       "name",
			"/api/orders?branchId=1&search=912345678": "name",
		} {
			body := string(f.must(f.ask(account, "GET", path, "")).body)
			for field, secret := range secrets {
				if shown := strings.Contains(body, secret); shown != (sees && strings.Contains(fields, field)) {
					t.Errorf("%s of %s: the %s is shown: %t", path, account, field, shown)
				}
			}
			if found := strings.Contains(body, id); !found && (sees || !strings.Contains(path, "search")) || found && !sees && strings.Contains(path, "search") {
				t.Errorf("%s of %s: the order is found: %t", path, account, found)
			}
		}
		board := f.firstBoard(account)
		for field, secret := range secrets {
			if shown := strings.Contains(board, secret); shown != sees {
				t.Errorf("the stream of %s: the %s is shown: %t", account, field, shown)
			}
		}
		receiver := f.ask(account, "GET", "/api/orders/"+id+"/receiver", "")
		if visible := strings.Contains(string(receiver.body), "Gate 4711"); visible != sees {
			t.Errorf("%s sees the note: %t", account, visible)
		}
	}
	for _, path := range []string{"search=1&branchId=1", "search=a-001&branchId=1"} { // a cook finds orders by number
		if body := f.must(f.ask("kitchenA", "GET", "/api/orders?"+path, "")).body; !strings.Contains(string(body), id) {
			t.Errorf("GET /api/orders?%s = %s, want order %s", path, body, id)
		}
	}
}

// firstBoard returns the first event of the board's stream.
func (f *fixture) firstBoard(account string) string {
	f.t.Helper()
	r := testenv.Must(http.NewRequestWithContext(f.t.Context(), http.MethodGet, f.url+"/api/boards/1/events",
		http.NoBody))(f.t)
	r.Header.Set("Authorization", "Bearer "+f.bearer[account])
	res, err := f.client.Do(r)
	if err != nil {
		f.t.Fatal(err)
	}
	defer res.Body.Close()
	lines := bufio.NewReader(res.Body)
	for {
		line := testenv.Must(lines.ReadString('\n'))(f.t)
		if strings.HasPrefix(line, "data:") && strings.Contains(line, `"tickets"`) {
			return line
		}
	}
}
