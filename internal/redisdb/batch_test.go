package redisdb_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"comanda/internal/keyspace"
	"comanda/internal/redisdb"
	"comanda/internal/redisdb/redisdbtest"
	"comanda/internal/testenv"
)

var (
	several = fstest.MapFS{
		"add.lua": {Data: []byte("#!lua\nlocal all = {}\nfor i, key in ipairs(KEYS) do\n" +
			"  all[i] = redis.call('INCRBY', key, ARGV[i]) .. ' of ' .. #KEYS\nend\nreturn all\n")},
		"one.lua":  {Data: []byte("#!lua\nreturn redis.call('INCRBY', KEYS[1], ARGV[1])\n")},
		"pair.lua": {Data: []byte("#!lua\nlocal all = {}\nfor i = 1, #KEYS, 2 do all[#all + 1] = #KEYS / 2 end\nreturn all\n")},
		"mute.lua": {Data: []byte("#!lua\nreturn {}\n")},
	}
	add  = redisdb.MustBatchScript(several, "add.lua")
	one  = redisdb.MustScript(several, "one.lua")
	pair = redisdb.MustBatchScript(several, "pair.lua")
	mute = redisdb.MustBatchScript(several, "mute.lua")
)

func adding(branch int64, n string) redisdb.Cmd {
	return add.Command([]keyspace.Key{keyspace.MenuActive(branch)}, n)
}

// The replies are in the order of the commands, whichever commands separate the groups and however many share a call.
func TestDB_DoMulti_series(t *testing.T) {
	redisdbtest.Each(t, func(t *testing.T, db *redisdb.DB) {
		server := testenv.Must(db.Server(t.Context()))(t)
		shared := func(n int) int { // expected size of the call of n neighbouring scripts
			if server.Mode == "cluster" {
				return 1
			}
			return n
		}
		var cmds []redisdb.Cmd
		var want []string
		put := func(c redisdb.Cmd, reply string) { cmds, want = append(cmds, c), append(want, reply) }
		for branch := range int64(40) { // on many slots; 32 share a call, 8 the next
			of := 32
			if branch >= 32 {
				of = 8
			}
			put(adding(branch, fmt.Sprint(branch)), fmt.Sprint(branch, " of ", shared(of)))
		}
		put(redisdb.Command("EXISTS", keyspace.MenuActive(40)), "0")
		put(adding(1, "10"), fmt.Sprint("11 of ", shared(2)))
		put(adding(1, "100"), fmt.Sprint("111 of ", shared(2)))
		two := []keyspace.Key{keyspace.QuotaCap(7, "2026-02-26"), keyspace.QuotaPaid(7, "2026-02-26")}
		put(pair.Command(two), fmt.Sprint(shared(2))) // another series
		put(pair.Command(two), fmt.Sprint(shared(2)))
		put(pair.Command(two, "more"), "1") // another number of arguments, so not grouped with its neighbours
		for range 2 {                       // the server has none of the scripts first, then all
			replies := testenv.Must(db.DoMulti(t.Context(), cmds...))(t)
			got := make([]string, len(replies))
			for i, r := range replies {
				var err error
				if got[i], _, err = r.Text(); err != nil {
					n, _ := r.Int()
					got[i] = fmt.Sprint(n)
				}
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Fatal(d)
			}
			for branch := range int64(40) { // resets the keys
				testenv.NoError(t, db.Do(t.Context(), "DEL", keyspace.MenuActive(branch)).Err())
			}
		}
	})
}

// A failed or unanswered group is never reported as successful.
func TestDB_DoMulti_series_that_fails(t *testing.T) {
	redisdbtest.Each(t, func(t *testing.T, db *redisdb.DB) {
		replies, err := db.DoMulti(t.Context(), adding(1, "1"), adding(2, "x"))
		if !errors.Is(err, redisdb.ErrReply) || !errors.Is(replies[1].Err(), redisdb.ErrReply) {
			t.Errorf("DoMulti: error %v, second reply %v, want ErrReply for both", err, replies[1].Err())
		}
		if text, _, err := db.Do(t.Context(), "GET", keyspace.MenuActive(1)).Text(); text != "1" || err != nil {
			t.Errorf("the group before it: %q, %v", text, err)
		}
		replies, err = db.DoMulti(t.Context(), mute.Command([]keyspace.Key{keyspace.MenuActive(1)}))
		if err != nil || replies[0].Err() == nil {
			t.Errorf("no answer: %v, %v", err, replies[0].Err())
		}
		other := add.Command([]keyspace.Key{keyspace.MenuActive(1), keyspace.MenuActive(2)}, "1", "2") // R3
		if _, err := db.DoMulti(t.Context(), adding(1, "1"), other); !errors.Is(err, redisdb.ErrSlots) {
			t.Errorf("a group on two slots: error %v, want ErrSlots", err)
		}
	})
}

// BenchmarkDoMulti measures what grouping scripts saves on a single server. Both variants run the same scripts in one
// round trip.
func BenchmarkDoMulti(b *testing.B) {
	db, _ := redisdbtest.Real(b)
	for name, s := range map[string]*redisdb.Script{"series": add, "scripts": one} {
		b.Run(name, func(b *testing.B) {
			cmds := make([]redisdb.Cmd, 256)
			for i := range cmds {
				cmds[i] = s.Command([]keyspace.Key{keyspace.MenuActive(int64(i))}, "1")
			}
			for b.Loop() {
				if _, err := db.DoMulti(b.Context(), cmds...); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N*len(cmds))/b.Elapsed().Seconds(), "scripts/s")
		})
	}
}
