package orderinghttp_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	"comanda/internal/redisdb"
	"comanda/internal/sqldb"
	"comanda/internal/testenv"
)

// itemName requests an order or a list of orders and returns the name of its only item.
func (s *shop) itemName(t *testing.T, path, language string) string {
	t.Helper()
	w := testenv.Serve(t, s.server, http.MethodGet, path, "",
		"X-Customer-Token", "phone", "Authorization", "Bearer 7", "Accept-Language", language)
	type order struct{ Items []struct{ Name string } }
	var got struct {
		Orders []order         // orders of a visit
		Items  json.RawMessage // items of an order, or orders of a member
	}
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != http.StatusOK {
		t.Fatalf("GET %s: status %d with body %s, want 200 with JSON", path, w.Code, w.Body)
	}
	var one order
	switch {
	case len(got.Orders) == 1:
		one = got.Orders[0]
	case strings.HasPrefix(path, "/orders?"):
		var all []order
		_ = json.Unmarshal(got.Items, &all) // the check below notices missing items
		one = all[0]
	default:
		_ = json.Unmarshal(w.Body.Bytes(), &one)
	}
	if len(one.Items) != 1 {
		t.Fatalf("GET %s = %s, want an order of one item", path, w.Body)
	}
	return one.Items[0].Name
}

// firstEvent returns the first event of an order's stream.
func (s *shop) firstEvent(t *testing.T, path, language string) string {
	t.Helper()
	ctx, end := context.WithCancel(t.Context())
	defer end()
	r := httptest.NewRequestWithContext(ctx, http.MethodGet, path, http.NoBody)
	r.Header.Set("X-Customer-Token", "phone")
	r.Header.Set("Authorization", "Bearer 7")
	r.Header.Set("Accept-Language", language)
	w := &first{ResponseRecorder: httptest.NewRecorder(), end: end}
	s.server.ServeHTTP(w, r)
	return w.Body.String()
}

// first ends a stream after its first event.
type first struct {
	*httptest.ResponseRecorder

	end func()
}

func (f *first) Write(b []byte) (int, error) {
	defer func() {
		if strings.Contains(f.Body.String(), "data:") {
			f.end()
		}
	}()
	return f.ResponseRecorder.Write(b)
}

// TestOrder_language checks that guests and members read the items in their own language, with the menu's names at the
// time of the order.
func TestOrder_language(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop, _ *redisdb.DB) {
		s.Member(t, 7)
		s.Name(t, 101, `{"vi":"Phở bò","en":"Beef pho","ja":"牛肉フォー"}`)
		made := s.ask(t, "7", "POST", "/cis/order/create",
			`{"items":[{"itemId":"101","qty":1}],"paymentMethod":"SANDBOX","clientTxnId":"g","menuVersionId":"1","customerToken":"phone"}`).want(t, 201, "")
		guest, _ := made.body["id"].(string)
		s.ask(t, "7", "POST", "/cart/add-dish", `{"dishId":"101","quantity":1}`).want(t, 201, "")
		made = s.ask(t, "7", "POST", "/cart/checkout", checkout("m", "")).want(t, 201, "")
		member, _ := made.body["orderId"].(string)
		s.Name(t, 101, `{"vi":"Phở gà","en":"Chicken pho"}`)

		paths := []string{"/cis/order/" + guest, "/cis/visit/" + s.Visit + "/orders?size=5", "/orders/" + member, "/orders?size=5"}
		for language, want := range map[string]string{
			"en": "Beef pho", "vi": "Phở bò", "": "Phở bò", "fr": "Phở bò", "zh-TW": "Phở bò", "fr,en;q=0.5": "Beef pho",
			"ja": "Phở bò", // the branch does not offer this language, so its menu has no such name
		} {
			for _, path := range paths {
				if got := s.itemName(t, path, language); got != want {
					t.Errorf("%s in %q: %q, want %q", path, language, got, want)
				}
			}
		}
		for _, path := range paths {
			locale := map[bool]string{true: "&locale=en", false: "?locale=en"}[strings.Contains(path, "?")]
			if got := s.itemName(t, path+locale, "vi"); got != "Beef pho" {
				t.Errorf("%s in the locale that is named: %q", path, got)
			}
		}
		for _, path := range []string{"/cis/order/" + guest + "/events", "/orders/" + member + "/events"} {
			if got := s.firstEvent(t, path, "en"); !strings.Contains(got, "Beef pho") || strings.Contains(got, "Phở") {
				t.Errorf("first event of %s = %s, want only the English name", path, got)
			}
		}

		// An order placed before names were stored shows the branch's default language.
		forget := sqldb.Load(fstest.MapFS{"it.sql": {Data: []byte("UPDATE item_name SET names = ''")}}).Must("it")
		testenv.Must(s.DB.Exec(t.Context(), forget))(t)
		testenv.Equal(t, "Phở bò", s.itemName(t, paths[0], "en"))
	}, 10)
}
