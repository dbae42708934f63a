package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"golang.org/x/sync/errgroup"

	"comanda/internal/bench/load"
)

// Login is a member account for the benchmark.
type Login struct{ Email, Password string }

// MemberLoads are the measurements of members.
type MemberLoads struct {
	Read   Load `json:"cartReads"`   // carts with three dishes
	Change Load `json:"cartChanges"` // changes of a quantity

	Rounds    int        `json:"rounds"`
	Checkouts RoundsLoad `json:"checkouts"` // checkouts of carts with one dish
	Orders    RoundsLoad `json:"orders"`    // as many table orders of one dish, alternating with Checkouts

	Ratio float64 `json:"checkoutsOverOrders"`
}

// RoundsLoad is the load of several rounds of one kind of request. The time is that of all rounds together, from the
// first request to the last response of each.
type RoundsLoad struct {
	Load
	CPU []Cost `json:"cpu,omitempty"` // including deferred work
}

// shopper is a logged-in member with a cart.
type shopper struct{ token, line string }

// loginsAtOnce uses as many CPUs as a server may have for password hashes, and stays below its queue limit.
const loginsAtOnce = 8

// enterMembers logs members in and adds three dishes to each cart. The first failure cancels the other logins.
func (s *session) enterMembers(ctx context.Context) error {
	s.product.members = make([]shopper, len(s.Members))
	all, ctx := errgroup.WithContext(ctx)
	all.SetLimit(loginsAtOnce)
	for i := range s.Members {
		all.Go(func() (err error) {
			s.product.members[i], err = s.enterMember(ctx, i)
			return err
		})
	}
	return all.Wait()
}

// enterMember logs one member in and fills the cart. Calls for different members may run side by side.
func (s *session) enterMember(ctx context.Context, i int) (shopper, error) {
	var in struct {
		AccessToken string `json:"accessToken"`
	}
	l := s.Members[i]
	body, err := json.Marshal(map[string]string{"email": l.Email, "password": l.Password})
	if err != nil {
		return shopper{}, fmt.Errorf("bench: %w", err)
	}
	if _, err := s.product.send(ctx, http.MethodPost, "/auth/login", string(body), http.StatusOK, &in); err != nil {
		return shopper{}, err
	}
	m := shopper{token: "Bearer " + in.AccessToken}
	for n := range lineCount {
		var line struct {
			ID string `json:"id"`
		}
		body := s.product.dish(i + n)
		_, err := s.product.send(ctx, http.MethodPost, addPath, body, http.StatusCreated, &line, "Authorization", m.token)
		if err != nil {
			return shopper{}, err
		}
		m.line = line.ID
	}
	return m, nil
}

// members measures carts and checkouts.
func (s *session) members(ctx context.Context) (err error) {
	p, m := s.product, &MemberLoads{}
	for _, step := range []struct {
		into     *Load
		requests func(conn int) func() []byte
	}{
		{&m.Read, p.cartReads},
		{&m.Change, p.cartChanges},
	} {
		*step.into, err = s.ask(ctx, load.Plan{Conns: p.memberConns(), Want: http.StatusOK, Requests: step.requests})
		if err != nil {
			return err
		}
		s.settle(ctx)
	}
	s.report.Members = m
	return s.rounds(ctx, m)
}

// memberConns returns the number of connections, at most one per member: two requests for one cart would wait for each
// other.
func (p *product) memberConns() int { return min(p.conns, len(p.members)) }

const (
	addPath      = "/cart/add-dish"
	checkoutPath = "/cart/checkout"
)

// dish returns the request body that adds the n-th dish to a cart. Dishes of the benchmark have the ids of their items.
func (p *product) dish(n int) string {
	return fmt.Sprintf(`{"dishId":"%s","quantity":1,"branchId":"%d"}`, p.items[n%len(p.items)], p.branch)
}

// cartReads returns requests that read the cart of the connection's member.
func (p *product) cartReads(conn int) func() []byte {
	return same(p.target.Request(http.MethodGet, "/cart", "", "Authorization", p.members[conn].token))
}

// cartChanges returns requests that set a line to 2 and 3 in turn, so that each of them changes something.
func (p *product) cartChanges(conn int) func() []byte {
	m := p.members[conn]
	change := func(quantity int) []byte {
		body := fmt.Sprintf(`{"quantity":%d}`, quantity)
		return p.target.Request(http.MethodPatch, "/cart/items/"+m.line, body, "Authorization", m.token)
	}
	return inTurn(change(2), change(3))
}
