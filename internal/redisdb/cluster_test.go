package redisdb_test

import (
	"testing"
	"testing/fstest"
	"time"

	"comanda/internal/keyspace"
	"comanda/internal/redisdb"
	"comanda/internal/redisdb/redisdbtest"
	"comanda/internal/testenv"
)

func TestDB_cluster(t *testing.T) {
	db := redisdbtest.Cluster(t)
	ctx := t.Context()
	var cmds []redisdb.Cmd
	for branch := range int64(50) { // on both nodes
		cmds = append(cmds, redisdb.Command("SET", keyspace.MenuActive(branch), "x", "EX", "60"))
		list, err := db.Run(ctx, count, []keyspace.Key{keyspace.MenuActiveLock(branch)}, []string{""}).List()
		if err != nil || len(list) != 3 {
			t.Fatalf("branch %d: %v", branch, err)
		}
	}
	if _, err := db.DoMulti(ctx, cmds...); err != nil {
		t.Error(err)
	}
	if s, err := db.Server(ctx); err != nil || s.Mode != "cluster" || s.RunID == "" {
		t.Errorf("Server = %+v, %v", s, err)
	}

	// A script that builds a key itself passes our check. Redis refuses it because of the script's first line.
	files := fstest.MapFS{"sly.lua": {Data: []byte("#!lua\nreturn redis.call('GET', ARGV[1])\n")}}
	sly := redisdb.MustScript(files, "sly.lua")
	other := ""
	for branch := range int64(50) {
		key := keyspace.MenuActive(branch)
		if branch > 0 && key.Slot()/8192 == keyspace.MenuActive(0).Slot()/8192 {
			other = key.String() // on the same node, but in another slot
		}
	}
	err := db.Run(ctx, sly, []keyspace.Key{keyspace.MenuActive(0)}, []string{other}).Err()
	testenv.ErrorIs(t, redisdb.ErrReply, err, "a key of another slot")
}

// A Cluster with one dead or silent node accepts new connections and reports its identity.
func TestDB_cluster_without_a_node(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]func(*testenv.Server){"dead": (*testenv.Server).Kill, "hung": (*testenv.Server).Pause} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			old, nodes := redisdbtest.OwnCluster(t)
			fail(nodes[0])
			for range 3 {
				testenv.Equal(t, "cluster", testenv.Must(old.Server(t.Context()))(t).Mode)
				db := testenv.Must(redisdb.Attach(t.Context(), redisdb.Config{URL: testenv.ClusterURL(nodes)}))(t)
				db.Close()
			}
		})
	}
}

// A node with another address replaces a dead one.
func TestDB_cluster_node_replaced(t *testing.T) {
	t.Parallel()
	db, nodes := redisdbtest.OwnCluster(t)
	changes := make(chan redisdb.Change, 100)
	db.OnChange(func(c redisdb.Change) { changes <- c })
	nodes[0].Kill()
	testenv.ReplaceNode(t, nodes, 0)
	for branch := range int64(50) {
		testenv.Eventually(t, soon, func() bool {
			return db.Do(t.Context(), "SET", keyspace.MenuActive(branch), "x", "EX", "60").Err() == nil
		})
	}
	for !next(t, changes).Restarted { // first its return is reported, then that it is another node
		continue
	}
}

// A Cluster that answers probes but fails calls is probed with growing pauses.
func TestDB_cluster_refuses(t *testing.T) {
	t.Parallel()
	_, nodes := redisdbtest.OwnCluster(t)
	db := testenv.Must(redisdb.Open(t.Context(), redisdb.Config{
		URL: testenv.ClusterURL(nodes), Timeout: soon, Pause: time.Millisecond, MaxPause: time.Hour, Heartbeat: time.Hour,
	}))(t)
	t.Cleanup(db.Close)
	testenv.NoError(t, get(t, db))
	nodes[0].Kill()
	inARow := 0
	testenv.Eventually(t, 2*soon, func() bool { // polls every 50 ms
		if inARow++; db.Up() {
			inARow = 0
		}
		_ = get(t, db)
		return inARow == 20
	})
}
