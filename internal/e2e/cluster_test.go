package e2e

import (
	"net/http"
	"testing"

	"comanda/internal/keyspace"
	"comanda/internal/testenv"
)

// homeIndex tells which node of the Cluster holds the keys of the first branch.
func (s *site) homeIndex() int {
	return int(keyspace.Slot("{b"+firstBranch+"}")) * len(s.nodes) / 16384
}

func (s *site) home() *testenv.Server { return s.nodes[s.homeIndex()] }

// whole waits until every store says the same, and there is nothing in Redis that should not be.
func (s *site) whole() {
	s.t.Helper()
	s.agrees()
	s.verified()
	s.audited()
}

// The storm of TestStorm on a Cluster, beside people with accounts.
func TestCluster(t *testing.T) {
	on(t, func(t *testing.T, k kind) {
		s := open(t, k, nil)
		p := s.patron("regular")
		storm(s, nil, guest.place)
		p.known()
		s.whole()
		for _, n := range s.nodes {
			n.Say("FLUSHALL")
		}
		p.known()
		s.whole()
	}, cluster)
}

// known logs in once more, is recognised by every process, and after the logout by none.
func (p *patron) known() {
	t := p.s.t
	t.Helper()
	p.enter()
	for _, v := range p.s.servers {
		p.me(v).want(t, http.StatusOK, "")
	}
	p.take(p.spend(p.refresh))
	p.logout(p.s.servers[0]).want(t, http.StatusNoContent, "")
	p.me(p.s.servers[0]).want(t, http.StatusUnauthorized, "")
}

// ill has something happen to the node with the branch's keys in the middle of the storm, and mended after it: the orders
// go on at the first attempt, and soon Redis says again what SQL says.
func ill(t *testing.T, failure, mend func(s *site)) {
	t.Helper()
	on(t, func(t *testing.T, k kind) {
		s := open(t, k, nil)
		p := s.patron("regular")
		storm(s, func() { failure(s) }, guest.place)
		p.known()
		mend(s)
		testenv.AwaitCluster(t, s.nodes)
		p.known()
		s.whole()
	}, cluster)
}

// It dies, nobody takes its place, and it comes back empty.
func TestCluster_node_killed(t *testing.T) {
	ill(t, func(s *site) { s.home().Kill() }, func(s *site) { s.home().Restart() })
}

// The same where the other nodes go on serving their slots, so that Redis is neither up nor down.
func TestCluster_node_killed_others_serve(t *testing.T) {
	ill(t, func(s *site) {
		s.othersServe()
		s.home().Kill()
	}, func(s *site) { s.home().Restart() })
}

func (s *site) othersServe() {
	for _, n := range s.nodes {
		n.Say("CONFIG SET cluster-require-full-coverage no")
	}
}

// It dies, and an empty one with another address takes its place.
func TestCluster_node_replaced(t *testing.T) {
	ill(t, func(s *site) { s.home().Kill() }, func(s *site) { testenv.ReplaceNode(atEnd.For(s.t), s.nodes, s.homeIndex()) })
}

// It says nothing any more, while the others serve their slots, and goes on later.
func TestCluster_node_hung(t *testing.T) {
	ill(t, func(s *site) {
		s.othersServe()
		s.home().Pause()
	}, func(s *site) { s.home().Resume() })
}

// It is emptied.
func TestCluster_node_flushed(t *testing.T) {
	ill(t, func(s *site) { s.home().Say("FLUSHALL") }, func(*site) {})
}
