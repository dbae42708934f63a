package redisdb_test

import (
	"errors"
	"testing"
	"testing/fstest"

	"comanda/internal/keyspace"
	"comanda/internal/redisdb"
	"comanda/internal/redisdb/redisdbtest"
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

	// A script that builds a key by itself gets past our check, but not past Redis, which knows from the first line.
	files := fstest.MapFS{"sly.lua": {Data: []byte("#!lua\nreturn redis.call('GET', ARGV[1])\n")}}
	sly := redisdb.MustScript(files, "sly.lua")
	other := ""
	for branch := range int64(50) {
		key := keyspace.MenuActive(branch)
		if branch > 0 && key.Slot()/8192 == keyspace.MenuActive(0).Slot()/8192 {
			other = key.String() // of the same node, but of another slot
		}
	}
	err := db.Run(ctx, sly, []keyspace.Key{keyspace.MenuActive(0)}, []string{other}).Err()
	if !errors.Is(err, redisdb.ErrReply) {
		t.Errorf("a key of another slot: %v", err)
	}
}
