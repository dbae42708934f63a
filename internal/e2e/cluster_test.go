package e2e

import (
	"net/http"
	"testing"

	"comanda/internal/keyspace"
	"comanda/internal/testenv"
)

// shardIndex returns the index of the Cluster node that holds the keys of the first branch.
func (s *installation) shardIndex() int {
	return int(keyspace.Slot("{b"+firstBranch+"}")) * len(s.nodes) / 16384
}

func (s *installation) shardNode() *testenv.Server { return s.nodes[s.shardIndex()] }

// awaitRepaired waits until all stores agree and Redis holds nothing undeclared.
func (s *installation) awaitRepaired() {
	s.t.Helper()
	s.awaitConsistent()
	s.awaitDocuments()
	s.awaitKeysDeclared()
}

// TestCluster runs the storm of TestStorm on a Cluster, with logged-in accounts beside it.
func TestCluster(t *testing.T) {
	onInstallations(t, func(t *testing.T, k kind) {
		s := open(t, k, nil)
		p := s.newPerson("regular")
		storm(s, nil, guest.place)
		p.wantSessionEverywhere()
		s.awaitRepaired()
		for _, n := range s.nodes {
			n.Say("FLUSHALL")
		}
		p.wantSessionEverywhere()
		s.awaitRepaired()
	}, cluster)
}

// wantSessionEverywhere logs in again and expects every process to accept the session. After the logout, the first
// process must refuse it.
func (p *person) wantSessionEverywhere() {
	t := p.s.t
	t.Helper()
	p.logIn()
	for _, v := range p.s.servers {
		p.me(v).want(t, http.StatusOK, "")
	}
	p.storeTokens(p.spendRefreshToken(p.refresh))
	p.logout(p.s.servers[0]).want(t, http.StatusNoContent, "")
	p.me(p.s.servers[0]).want(t, http.StatusUnauthorized, "")
}

// nodeFailure fails the node with the branch's keys during a storm and repairs it afterwards. Every order succeeds at
// the first attempt, and soon Redis agrees with SQL again.
func nodeFailure(t *testing.T, failure, repair func(s *installation)) {
	t.Helper()
	onInstallations(t, func(t *testing.T, k kind) {
		s := open(t, k, nil)
		p := s.newPerson("regular")
		storm(s, func() { failure(s) }, guest.place)
		p.wantSessionEverywhere()
		repair(s)
		testenv.AwaitCluster(t, s.nodes)
		p.wantSessionEverywhere()
		s.awaitRepaired()
	}, cluster)
}

// The node dies, no other replaces it, and it comes back empty.
func TestCluster_node_killed(t *testing.T) {
	nodeFailure(t, func(s *installation) { s.shardNode().Kill() }, func(s *installation) { s.shardNode().Restart() })
}

// The node dies while the other nodes still serve their slots, so that Redis is neither up nor down.
func TestCluster_node_killed_others_serve(t *testing.T) {
	nodeFailure(t, func(s *installation) {
		s.wantOtherShards()
		s.shardNode().Kill()
	}, func(s *installation) { s.shardNode().Restart() })
}

func (s *installation) wantOtherShards() {
	for _, n := range s.nodes {
		n.Say("CONFIG SET cluster-require-full-coverage no")
	}
}

// The node dies, and an empty one with another address replaces it.
func TestCluster_node_replaced(t *testing.T) {
	nodeFailure(t, func(s *installation) { s.shardNode().Kill() }, func(s *installation) { testenv.ReplaceNode(shared.For(s.t), s.nodes, s.shardIndex()) })
}

// The node hangs while the others serve their slots, and continues later.
func TestCluster_node_hung(t *testing.T) {
	nodeFailure(t, func(s *installation) {
		s.wantOtherShards()
		s.shardNode().Pause()
	}, func(s *installation) { s.shardNode().Resume() })
}

// The node is emptied.
func TestCluster_node_flushed(t *testing.T) {
	nodeFailure(t, func(s *installation) { s.shardNode().Say("FLUSHALL") }, func(*installation) {})
}
