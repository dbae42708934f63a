package e2e

import (
	"net/http"
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
