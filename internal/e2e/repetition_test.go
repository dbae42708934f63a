package e2e

import (
	"net/http"
	"testing"
)

// A request that is sent a hundred times at once, to any process, has one effect and one response. The same idempotency
// key with another body is refused (I11).
func TestRepetition(t *testing.T) {
	onInstallations(t, func(t *testing.T, k kind) {
		s := open(t, k, nil)
		g := s.guest(0)
		w := g.request(line{ItemID: pho, Qty: 2}, line{ItemID: phoGa, Qty: 1})
		answers := make([]answer, 100)
		inParallel(len(answers), func(i int) { answers[i] = g.place(w) })

		statuses := map[int]int{}
		first := answers[0].order(t)
		for _, a := range answers {
			statuses[a.status]++
			if string(a.body) != string(answers[0].body) {
				t.Errorf("answered %s and %s", answers[0].body, a.body)
			}
		}
		if statuses[http.StatusCreated] != 1 || statuses[http.StatusOK] != len(answers)-1 {
			t.Errorf("statuses: %v", statuses)
		}
		w.Items[0].Qty = 1
		inParallel(len(answers), func(i int) { answers[i] = g.place(w) })
		for _, a := range answers {
			a.want(t, http.StatusUnprocessableEntity, "idempotency_mismatch")
		}
		if l := s.stock(pho); l.Held != 2 || l.Used != 0 {
			t.Errorf("one order of two units holds %d and has used %d", l.Held, l.Used)
		}
		if o := g.get(first.ID).order(t); o.Number != first.Number || o.Status != "PLACED" {
			t.Errorf("the order is %+v", o)
		}
		s.awaitConsistent()
	}, embedded, servers, pair)
}
