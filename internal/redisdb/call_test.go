package redisdb_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/rueidis"

	"comanda/internal/keyspace"
	"comanda/internal/redisdb"
	"comanda/internal/redisdb/redisdbtest"
	"comanda/internal/testenv"
)

const visit = "01j9v0k4v5m6n7o8p9q0r1s2t3"

func TestDB_Do(t *testing.T) {
	redisdbtest.Each(t, func(t *testing.T, db *redisdb.DB) {
		ctx, text, set := t.Context(), keyspace.MenuActive(7), keyspace.VisitCustomers(visit)
		hash := keyspace.QuotaCap(7, "2026-02-26")
		if s, found, err := db.Do(ctx, "GET", text).Text(); s != "" || found || err != nil {
			t.Errorf("GET of a missing key = %q, %t, %v, want not found", s, found, err)
		}
		replies := testenv.Must(db.DoMulti(ctx,
			redisdb.Command("SET", text, "", "EX", "60"), redisdb.Command("SADD", set, "a", "b"),
			redisdb.Command("SMEMBERS", set), redisdb.Command("SMISMEMBER", set, "a", "c"),
			redisdb.Command("HSET", hash, "1", "2"), redisdb.Command("HGETALL", hash)))(t)
		if s, found, err := db.Do(ctx, "GET", text).Text(); s != "" || !found || err != nil {
			t.Errorf("GET of an empty value = %q, %t, %v, want it found", s, found, err)
		}
		testenv.Equal(t, 2, testenv.Must(replies[1].Int())(t))
		if members, err := replies[2].Texts(); len(members) != 2 || err != nil {
			t.Errorf("SMEMBERS = %v, %v, want two", members, err)
		}
		if ns, err := replies[3].Ints(); !cmp.Equal(ns, []int64{1, 0}) || err != nil {
			t.Errorf("SMISMEMBER = %v, %v, want 1, 0", ns, err)
		}
		if m, err := replies[5].Map(); !cmp.Equal(m, map[string]string{"1": "2"}) || err != nil {
			t.Errorf("HGETALL = %v, %v, want 1: 2", m, err)
		}
	})
}

func TestDB_Do_refuses(t *testing.T) {
	redisdbtest.Each(t, func(t *testing.T, db *redisdb.DB) {
		ctx := t.Context()
		for name, err := range map[string]error{ // R1
			"Do":      db.Do(ctx, "GET", keyspace.Key{}).Err(),
			"builder": db.Do(ctx, "GET", keyspace.MenuActive(-1)).Err(),
			"Run":     db.Run(ctx, twice, []keyspace.Key{{}}, nil).Err(),
		} {
			if !errors.Is(err, redisdb.ErrKey) {
				t.Errorf("%s with an invalid key: error %v, want ErrKey", name, err)
			}
		}
		testenv.ErrorIs(t, redisdb.ErrKey, testenv.Err(db.DoMulti(ctx, redisdb.Command("GET", keyspace.Key{}))))
		if err := db.Do(ctx, "HGETALL", keyspace.MenuActive(7), "too", "many").Err(); !errors.Is(err, redisdb.ErrReply) {
			t.Errorf("the server's refusal: error %v, want ErrReply", err)
		}
		replies, err := db.DoMulti(ctx,
			redisdb.Command("SET", keyspace.MenuActive(7), "x"), redisdb.Command("SMEMBERS", keyspace.MenuActive(7)))
		if !errors.Is(err, redisdb.ErrReply) || replies[0].Err() != nil || !errors.Is(replies[1].Err(), redisdb.ErrReply) {
			t.Errorf("DoMulti = %v with replies %v and %v, want ErrReply for the second", err, replies[0].Err(), replies[1].Err())
		}
		gone, cancel := context.WithCancel(ctx)
		cancel()
		testenv.ErrorIs(t, context.Canceled, db.Do(gone, "GET", keyspace.MenuActive(7)).Err(), "a caller who has left")
		if !db.Up() {
			t.Error("a refusal or a caller who has left took the server down")
		}
	})
}

var (
	scripts = fstest.MapFS{
		"count.lua": {Data: []byte("#!lua\n-- counts\nreturn {redis.call('INCR', KEYS[1]), ARGV[1], {'x', 1}}\n")},
		"twice.lua": {Data: []byte("#!lua\n  -- two keys\nreturn redis.call('EXISTS', KEYS[1], KEYS[2])\n")},
	}
	count = redisdb.MustScript(scripts, "count.lua")
	twice = redisdb.MustScript(scripts, "twice.lua")
)

func TestScript_text(t *testing.T) {
	want := "#!lua\nreturn redis.call('EXISTS', KEYS[1], KEYS[2])\n"
	if twice.Text() != want || twice.Name() != "twice" {
		t.Errorf("script %s = %q, want EXISTS of two keys", twice.Name(), twice.Text())
	}
	for name, files := range map[string]fstest.MapFS{
		"missing file":       {},
		"missing first line": {"x.lua": {Data: []byte("return 1\n")}},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("script %s was loaded, want a panic", name)
				}
			}()
			redisdb.MustScript(files, "x.lua")
		}()
	}
}

func TestDB_Run(t *testing.T) {
	redisdbtest.Each(t, func(t *testing.T, db *redisdb.DB) {
		for want := int64(1); want <= 2; want++ { // the server does not have the script at the first call
			list, err := db.Run(t.Context(), count, []keyspace.Key{keyspace.MenuActive(7)}, []string{"arg"}).List()
			if err != nil || len(list) != 3 {
				t.Fatalf("Run = %v, %v, want three values", list, err)
			}
			n, _ := list[0].Int()
			arg, _, _ := list[1].Text()
			if inner, err := list[2].List(); n != want || arg != "arg" || len(inner) != 2 || err != nil {
				t.Errorf("reply = %d, %q, %v, %v, want the count, arg and two values", n, arg, inner, err)
			}
			if _, err := list[1].Int(); err == nil {
				t.Error("a text was read as a number")
			}
		}
		keys := []keyspace.Key{keyspace.QuotaCap(7, "2026-02-26"), keyspace.QuotaCap(8, "2026-02-26")}
		if err := db.Run(t.Context(), twice, keys, nil).Err(); !errors.Is(err, redisdb.ErrSlots) { // R3
			t.Errorf("keys of two branches: error %v, want ErrSlots", err)
		}
	})
}

func TestDB_namespace(t *testing.T) {
	plain, srv := redisdbtest.Real(t)
	north := testenv.Must(redisdb.Open(t.Context(), redisdb.Config{URL: "redis://" + srv.Addr(), Namespace: "north"}))(t)
	defer north.Close()
	key := keyspace.MenuActive(7)
	north.Do(t.Context(), "SET", key, "5")
	testenv.Equal(t, 3, len(testenv.Must(north.Run(t.Context(), count, []keyspace.Key{key}, []string{""}).List())(t)))
	if _, found, err := plain.Do(t.Context(), "GET", key).Text(); found || err != nil {
		t.Errorf("a key outside the namespace was found: %v", err)
	}
	raw := testenv.Must(rueidis.NewClient(rueidis.ClientOption{
		InitAddress: []string{srv.Addr()}, DisableCache: true, ForceSingleClient: true,
	}))(t)
	defer raw.Close()
	names, err := raw.Do(t.Context(), raw.B().Keys().Pattern("*").Build()).AsStrSlice()
	if d := cmp.Diff([]string{"north:cis:menu:active:v2:7"}, names); d != "" || err != nil {
		t.Error(d, err)
	}
}

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
