package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
)

// Sizes of the storm. In a storm with a failure, the early guests are served before it, the late ones arrive after it,
// and the others order during it.
const (
	crowdSize = 500
	stormCap  = 50
	early     = stormCap / 2
	late      = 100
)

// 500 guests order one of 50 units each at once: 50 get one and 450 are refused as sold out (I2).
func TestStorm(t *testing.T) {
	onInstallations(t, func(t *testing.T, k kind) {
		s := open(t, k, nil)
		storm(s, nil, guest.place)
		s.awaitConsistent()
	}, embedded, servers)
}

// The storm of TestStorm, while Redis dies: every guest gets a final response at the first attempt (I16), and after the
// restart Redis agrees with SQL (I9).
func TestStorm_redis_killed(t *testing.T) {
	onInstallations(t, func(t *testing.T, k kind) {
		s := open(t, k, nil)
		storm(s, s.redis.Kill, guest.place)
		s.redis.Restart()
		s.awaitConsistent()
	}, servers)
}

// The storm of TestStorm, while Redis is emptied.
func TestStorm_redis_flushed(t *testing.T) {
	onInstallations(t, func(t *testing.T, k kind) {
		s := open(t, k, nil)
		storm(s, s.flush, guest.place)
		s.awaitConsistent()
	}, embedded, servers)
}

// The storm of TestStorm, while the server dies: guests without a response retry, and receive the result of their
// orders (I5).
func TestStorm_server_killed(t *testing.T) {
	onInstallations(t, func(t *testing.T, k kind) {
		s := open(t, k, nil)
		restart := func() {
			s.servers[0].kill()
			s.servers[0].start()
		}
		storm(s, restart, func(g guest, w orderRequest) answer { return g.retry(w, patience) })
		s.awaitConsistent()
	}, embedded, servers)
}

// storm lets the crowd order, with a failure meanwhile unless it is nil, and compares all responses with the stored
// orders.
func storm(s *installation, failure func(), place func(guest, orderRequest) answer) {
	t := s.t
	t.Helper()
	s.quota(pho, stormCap)
	c := newCrowd(s, place)
	if failure == nil {
		c.orderAll(0, crowdSize)
	} else {
		c.orderAll(0, early)
		c.orderDuring(failure)
	}
	won := map[string]bool{}
	for i, a := range c.answers {
		if a.status != http.StatusCreated && a.status != http.StatusOK {
			wantSoldOut(t, a)
			continue
		}
		o := a.order(t)
		if won[o.ID] {
			t.Errorf("guest %d was given order %s of another", i, o.ID)
		}
		won[o.ID] = true
	}
	if len(won) != stormCap {
		t.Errorf("%d guests have an order, want %d", len(won), stormCap)
	}
	if n := c.storedOrders(); n != stormCap {
		t.Errorf("the tables' visits have %d orders, want %d", n, stormCap)
	}
	s.wantStock(pho, stormCap, stormCap, 0)
}

// crowd is many guests, each with a phone and one order to place.
type crowd struct {
	s       *installation
	guests  []guest
	wishes  []orderRequest
	answers []answer
	place   func(guest, orderRequest) answer

	first         sync.Once // the first response to a guest who orders during the failure
	firstAnswered chan struct{}
}

// newCrowd seats the guests, a few at a time, at all tables of the branch.
func newCrowd(s *installation, place func(guest, orderRequest) answer) *crowd {
	c := &crowd{
		s: s, guests: make([]guest, crowdSize), wishes: make([]orderRequest, crowdSize), answers: make([]answer, crowdSize),
		place: place, firstAnswered: make(chan struct{}),
	}
	inParallel(16, func(worker int) {
		for i := worker; i < crowdSize; i += 16 {
			c.guests[i], c.answers[i] = s.scan(i)
			c.wishes[i] = c.guests[i].request(line{ItemID: pho, Qty: 1})
		}
	})
	for _, a := range c.answers {
		a.want(s.t, http.StatusOK, "")
	}
	return c
}

// orderAll has guests order at once and waits for all responses.
func (c *crowd) orderAll(from, to int) {
	inParallel(to-from, func(i int) { c.order(from + i) })
}

func (c *crowd) order(i int) {
	c.answers[i] = c.place(c.guests[i], c.wishes[i])
	if i >= early {
		c.first.Do(func() { close(c.firstAnswered) })
	}
}

// orderDuring causes the failure after the first response to a guest who is not early. The late guests order after it.
func (c *crowd) orderDuring(failure func()) {
	var all sync.WaitGroup
	all.Go(func() { c.orderAll(early, crowdSize-late) })
	<-c.firstAnswered
	failure()
	c.orderAll(crowdSize-late, crowdSize)
	all.Wait()
}

// storedOrders counts the orders that the guests' visits show.
func (c *crowd) storedOrders() (n int) {
	seen := map[string]bool{}
	for _, g := range c.guests {
		if seen[g.visit] {
			continue
		}
		seen[g.visit] = true
		var page struct {
			Total int `json:"total"`
		}
		g.send(http.MethodGet, "/cis/visit/"+g.visit+"/orders?size=1", nil).into(c.s.t, &page)
		n += page.Total
	}
	if len(seen) != len(c.s.tables) {
		c.s.t.Errorf("the crowd sits in %d visits at %d tables", len(seen), len(c.s.tables))
	}
	return n
}

// inParallel starts n calls of f together, and waits for all.
func inParallel(n int, f func(i int)) {
	var all sync.WaitGroup
	begin := make(chan struct{})
	for i := range n {
		all.Go(func() {
			<-begin
			f(i)
		})
	}
	close(begin)
	all.Wait()
}

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
