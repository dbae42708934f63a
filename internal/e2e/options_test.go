package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
)

// The demo's lunch set, its option bun cha and the dish that this option stands for.
const (
	lunchSet    = "37"
	mainDishes  = "4" // group
	bunChaMain  = "11"
	icedSauMain = "12" // a drink, which the lunch set requires
	bunCha      = "14"
	portions    = 6
)

// 500 guests want the last six portions of bun cha, as an option of three dishes and in the lunch set: six are sold,
// and nothing else is lost (I2).
func TestStorm_options(t *testing.T) {
	onInstallations(t, func(t *testing.T, k kind) {
		s := open(t, k, nil)
		stormOfOptions(s, nil, guest.place)
		s.awaitConsistent()
	}, embedded, servers)
}

// The storm of TestStorm_options, while Redis dies.
func TestStorm_options_redis_killed(t *testing.T) {
	onInstallations(t, func(t *testing.T, k kind) {
		s := open(t, k, nil)
		stormOfOptions(s, s.redis.Kill, guest.place)
		s.redis.Restart()
		s.awaitConsistent()
	}, servers)
}

// The storm of TestStorm_options, while the server dies.
func TestStorm_options_server_killed(t *testing.T) {
	onInstallations(t, func(t *testing.T, k kind) {
		s := open(t, k, nil)
		restart := func() {
			s.servers[0].kill()
			s.servers[0].start()
		}
		stormOfOptions(s, restart, func(g guest, w orderRequest) answer { return g.retry(w, patience) })
		s.awaitConsistent()
	}, embedded, servers)
}

// stormOfOptions lets the crowd order, with a failure meanwhile unless it is nil.
func stormOfOptions(s *installation, failure func(), place func(guest, orderRequest) answer) {
	t := s.t
	t.Helper()
	dishes := []string{phoGa, "15", "17"}
	s.offerBunCha(dishes)
	s.quota(bunCha, portions)
	side := []chosen{{OptionID: bunChaMain, Qty: 1}}
	wishes := []line{{ItemID: lunchSet, Qty: 1, Options: append(slices.Clone(side), chosen{OptionID: icedSauMain, Qty: 1})}}
	for _, d := range dishes {
		wishes = append(wishes, line{ItemID: d, Qty: 1, Options: side})
	}
	c := newCrowd(s, place)
	for i, g := range c.guests {
		c.wishes[i] = g.request(wishes[i%len(wishes)])
	}
	from := 0
	if failure == nil {
		c.orderAll(0, crowdSize)
	} else {
		from = early // the early guests would leave nothing to the others, so they do not order
		c.orderDuring(failure)
	}
	won := map[string]bool{}
	for i, a := range c.answers {
		if i < from {
			continue
		}
		if a.status == http.StatusCreated || a.status == http.StatusOK {
			won[a.order(t).ID] = true
			continue
		}
		p, _ := a.want(t, http.StatusConflict, "sold_out").problem()
		item := wishes[i%len(wishes)].ItemID
		if len(p.Lines) != 1 || p.Lines[0].ItemID != item || p.Lines[0].OptionID != bunChaMain || p.Lines[0].Available != 0 {
			t.Errorf("guest %d is refused with %v, want bun cha of item %s", i, a, item)
		}
	}
	if len(won) != portions {
		t.Errorf("%d guests have an order, want %d", len(won), portions)
	}
	if n := c.storedOrders(); n != portions {
		t.Errorf("the tables' visits have %d orders, want %d", n, portions)
	}
	s.wantStock(bunCha, portions, portions, 0)
}

// offerBunCha publishes a menu on which dishes can be ordered with bun cha.
func (s *installation) offerBunCha(items []string) {
	s.t.Helper()
	var draft struct {
		ID string `json:"id"`
	}
	s.staff(http.MethodPost, "/api/menus/1/versions", nil).want(s.t, http.StatusCreated, "").into(s.t, &draft)
	version := "/api/menu-versions/" + draft.ID
	s.staff(http.MethodPost, version+"/groups/"+mainDishes+"/attach", map[string]any{
		"itemIds": items, "settings": map[string]any{
			"min": 0, "max": nil, "free": 0, "maxEach": 1, "credit": false, "defaultsCharge": true,
			"options": []map[string]any{{"optionId": bunChaMain, "price": 5000, "isDefault": false, "isActive": true}},
		},
	}).want(s.t, http.StatusOK, "")
	s.staff(http.MethodPost, version+"/publish", nil).want(s.t, http.StatusOK, "")
	s.await(patience, func() error { // the server that is asked may not have published it
		if s.readMenu(); s.bill.Version != draft.ID {
			return fmt.Errorf("the menu is version %s, want %s", s.bill.Version, draft.ID)
		}
		return nil
	})
}
