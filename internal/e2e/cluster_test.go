package e2e

import (
	"net/http"
	"testing"

	"comanda/internal/keyspace"
	"comanda/internal/testenv"
)

// homeIndex returns the index of the Cluster node that holds the keys of the first branch.
func (s *site) homeIndex() int {
	return int(keyspace.Slot("{b"+firstBranch+"}")) * len(s.nodes) / 16384
}

func (s *site) home() *testenv.Server { return s.nodes[s.homeIndex()] }

// whole waits until all stores agree and Redis holds nothing undeclared.
func (s *site) whole() {
	s.t.Helper()
	s.agrees()
	s.verified()
	s.audited()
}

// TestCluster runs the storm of TestStorm on a Cluster, with logged-in accounts beside it.
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

// known logs in again and expects every process to accept the session, and none to accept it after the logout.
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

// ill fails the node with the branch's keys during a storm and repairs it afterwards. Every order succeeds at the first
// attempt, and soon Redis agrees with SQL again.
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

// The node dies, no other replaces it, and it comes back empty.
func TestCluster_node_killed(t *testing.T) {
	ill(t, func(s *site) { s.home().Kill() }, func(s *site) { s.home().Restart() })
}

// The same while the other nodes still serve their slots, so that Redis is neither up nor down.
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

// The node dies, and an empty one with another address replaces it.
func TestCluster_node_replaced(t *testing.T) {
	ill(t, func(s *site) { s.home().Kill() }, func(s *site) { testenv.ReplaceNode(atEnd.For(s.t), s.nodes, s.homeIndex()) })
}

// The node hangs while the others serve their slots, and continues later.
func TestCluster_node_hung(t *testing.T) {
	ill(t, func(s *site) {
		s.othersServe()
		s.home().Pause()
	}, func(s *site) { s.home().Resume() })
}

// The node is emptied.
func TestCluster_node_flushed(t *testing.T) {
	ill(t, func(s *site) { s.home().Say("FLUSHALL") }, func(*site) {})
}
