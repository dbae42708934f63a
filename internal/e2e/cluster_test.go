package e2e

import (
	"testing"

	"comanda/internal/keyspace"
	"comanda/internal/testenv"
)

// home is the node of the Cluster that holds the keys of the first branch.
func (s *site) home() *testenv.Server {
	return s.nodes[int(keyspace.Slot("{b"+firstBranch+"}"))*len(s.nodes)/16384]
}

// The storm of TestStorm on a Cluster.
func TestCluster(t *testing.T) {
	on(t, func(t *testing.T, k kind) {
		s := open(t, k, nil)
		storm(s, nil, guest.place)
		s.agrees()
		s.audited()
	}, cluster)
}

// The node with the branch's keys dies in the storm, and nobody takes its place: the orders go on at the first attempt,
// and when it is back, empty, it soon says again what SQL says.
func TestCluster_node_killed(t *testing.T) {
	on(t, func(t *testing.T, k kind) {
		s := open(t, k, nil)
		storm(s, s.home().Kill, guest.place)
		s.home().Restart()
		testenv.AwaitCluster(t, s.nodes)
		s.agrees()
		s.audited()
	}, cluster)
}

// The same where the other nodes go on serving their slots, so that Redis is neither up nor down.
func TestCluster_node_killed_others_serve(t *testing.T) {
	on(t, func(t *testing.T, k kind) {
		s := open(t, k, nil)
		for _, n := range s.nodes {
			n.Say("CONFIG SET cluster-require-full-coverage no")
		}
		storm(s, s.home().Kill, guest.place)
		s.home().Restart()
		testenv.AwaitCluster(t, s.nodes)
		s.agrees()
		s.audited()
	}, cluster)
}
