package redisdb_test

import (
	"errors"

	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"comanda/internal/keyspace"
	"comanda/internal/redisdb"
	"comanda/internal/redisdb/redisdbtest"
	"comanda/internal/testenv"
)

// Walk visits all pages of matching keys on every master, and each key on the master that holds it.
func TestDB_Walk(t *testing.T) {
	redisdbtest.Each(t, func(t *testing.T, db *redisdb.DB) {
		want := map[string]bool{}
		var cmds []redisdb.Cmd
		for branch := range int64(3500) {
			k := keyspace.MenuActive(branch)
			want[k.String()] = true
			cmds = append(cmds, redisdb.Command("SET", k, "x", "EX", "60"))
		}
		cmds = append(cmds, redisdb.Command("SET", keyspace.MenuActiveLock(1), "x", "EX", "60"))
		testenv.Must(db.DoMulti(t.Context(), cmds...))(t)
		got, nodes := map[string]bool{}, map[string]bool{}
		testenv.NoError(t, db.Walk(t.Context(), "cis:menu:*", nil, func(m *redisdb.Master, keys []redisdb.KeyInfo) error {
			nodes[m.Addr()] = true
			if len(keys) == 0 || len(keys) > 2000 {
				t.Errorf("%d keys at once", len(keys))
			}
			for _, k := range keys {
				got[k.Key] = true
			}
			return nil
		}))
		if !maps.Equal(want, got) {
			t.Errorf("%d keys instead of %d", len(got), len(want))
		}
		s, err := db.Server(t.Context())
		if err != nil || (len(nodes) == 3) != (s.Mode == "cluster") {
			t.Errorf("keys of %v in mode %s, %v", slices.Collect(maps.Keys(nodes)), s.Mode, err)
		}
		enough := errors.New("enough")
		stop := func(*redisdb.Master, []redisdb.KeyInfo) error { return enough }
		testenv.ErrorIs(t, enough, db.Walk(t.Context(), "", nil, stop), "the walk goes on")
	})
}

func TestInspector(t *testing.T) {
	redisdbtest.Each(t, func(t *testing.T, db *redisdb.DB) {
		ctx := t.Context()
		menu, guests, due := keyspace.MenuActive(1), keyspace.VisitCustomers("01j9v0k4v5m6n7o8p9q0r1s2t3"), keyspace.LeasesDue(1)
		testenv.Must(db.DoMulti(ctx,
			redisdb.Command("SET", menu, "a menu", "EX", "60"), redisdb.Command("SADD", guests, "a", "b"),
			redisdb.Command("ZADD", due, "1", "a"),
		))(t)
		c := testenv.Must(db.Inspect(ctx))(t)
		defer c.Close()
		states, texts, members, bytes := map[string]redisdb.State{}, map[string]string{}, map[string][]string{}, int64(0)
		for _, m := range c.Masters() {
			if n, err := m.Size(ctx); err != nil || n < 0 {
				t.Errorf("Size = %d, %v", n, err)
			}
			text := func(string) redisdb.Lookup { return redisdb.LookupText }
			testenv.NoError(t, m.Walk(ctx, "", text, func(page []redisdb.KeyInfo) error {
				keys := make([]string, len(page))
				for i, info := range page {
					k := info.Key
					keys[i], states[k], texts[k] = k, info.State, info.Text
					_ = m.Members(ctx, k, func(ms []string) error {
						members[k] = slices.Sorted(slices.Values(ms))
						return nil
					})
				}
				again, err := m.States(ctx, keys)
				sizes, err2 := m.Memory(ctx, keys)
				for i, s := range again {
					if s.Type != page[i].Type {
						t.Errorf("%s is a %s, then a %s", keys[i], page[i].Type, s.Type)
					}
					bytes += sizes[i]
				}
				return errors.Join(err, err2)
			}))
		}
		for k, s := range states {
			if s.TTL != redisdb.Forever {
				if s.TTL <= 0 || s.TTL > time.Minute {
					t.Errorf("%s lives %v", k, s.TTL)
				}
				states[k] = redisdb.State{Type: s.Type, TTL: time.Minute}
			}
		}
		testenv.Equal(t, map[string]redisdb.State{
			menu.String(): {Type: "string", TTL: time.Minute}, guests.String(): {Type: "set", TTL: redisdb.Forever},
			due.String(): {Type: "zset", TTL: redisdb.Forever},
		}, states)
		if texts[menu.String()] != "a menu" || texts[guests.String()] != "" {
			t.Errorf("texts %v", texts)
		}
		testenv.Equal(t, map[string][]string{guests.String(): {"a", "b"}}, members)
		if bytes <= 0 {
			t.Error("keys without any size")
		}
		got, err := c.States(ctx, []string{menu.String(), "stranger", due.String()})
		if err != nil || got[0].Gone() || !got[1].Gone() || got[2].Gone() {
			t.Errorf("States = %v, %v", got, err)
		}
		held, err := c.Hold(ctx, []redisdb.Entry{
			{Key: menu.String(), ID: "a menu"}, {Key: menu.String(), ID: "another"}, {Key: guests.String(), ID: "b", Set: true},
			{Key: due.String(), ID: "a", Set: true}, {Key: "stranger", ID: ""},
		})
		if err != nil || !slices.Equal(held, []bool{true, false, true, false, false}) {
			t.Errorf("Hold = %v, %v", held, err)
		}
	})
}

// Keys of other namespaces are ignored.
func TestDB_Walk_namespace(t *testing.T) {
	srv := testenv.RedisServer(t)
	seen := map[keyspace.Namespace][]string{}
	for i, ns := range []keyspace.Namespace{"north", "south"} {
		db := testenv.Must(redisdb.Open(t.Context(),
			redisdb.Config{URL: "redis://" + srv.Addr(), Namespace: ns, Timeout: 5 * time.Second}))(t)
		defer db.Close()
		testenv.NoError(t, db.Do(t.Context(), "SET", keyspace.MenuActive(int64(i)), "x").Err())
		testenv.NoError(t, db.Walk(t.Context(), "cis:*", nil, func(_ *redisdb.Master, keys []redisdb.KeyInfo) error {
			for _, k := range keys {
				seen[ns] = append(seen[ns], k.Key)
			}
			return nil
		}))
	}
	want := map[keyspace.Namespace][]string{"north": {"cis:menu:active:v2:0"}, "south": {"cis:menu:active:v2:1"}}
	testenv.Equal(t, want, seen)
}

// A lookup for another type than the key's returns only the type.
func TestMaster_Walk(t *testing.T) {
	redisdbtest.Each(t, func(t *testing.T, db *redisdb.DB) {
		menu, guests, due := keyspace.MenuActive(1), keyspace.VisitCustomers("01j9v0k4v5m6n7o8p9q0r1s2t3"), keyspace.LeasesDue(1)
		testenv.Must(db.DoMulti(t.Context(),
			redisdb.Command("SET", menu, "a menu"), redisdb.Command("SADD", guests, "a"), redisdb.Command("ZADD", due, "1", "a"),
		))(t)
		c := testenv.Must(db.Inspect(t.Context()))(t)
		defer c.Close()
		for q, want := range map[redisdb.Lookup][3]redisdb.KeyInfo{
			redisdb.LookupName:    {},
			redisdb.LookupType:    {},
			redisdb.LookupSize:    {{}, {Size: 1}},
			redisdb.LookupText:    {{Text: "a menu"}},
			redisdb.LookupMembers: {{}, {Members: []string{"a"}}},
		} {
			got := map[string]redisdb.KeyInfo{}
			for _, m := range c.Masters() {
				err := m.Walk(t.Context(), "", func(string) redisdb.Lookup { return q }, func(page []redisdb.KeyInfo) error {
					for _, s := range page {
						got[s.Key] = s
					}
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
			}
			for i, k := range []keyspace.Key{menu, guests, due} {
				w := want[i]
				w.Key, w.State = k.String(), redisdb.State{Type: k.Decl().Type, TTL: redisdb.Forever}
				switch {
				case q == redisdb.LookupName:
					w.State = redisdb.State{}
				case q == redisdb.LookupSize && w.Type == keyspace.Set:
					w.TTL = 0 // not read
				}
				if d := cmp.Diff(w, got[k.String()]); d != "" {
					t.Errorf("question %d about %s (-want +got):\n%s", q, k, d)
				}
			}
		}
	})
}

func TestInspector_server_down(t *testing.T) {
	db, srv := redisdbtest.Real(t)
	srv.Kill()
	testenv.ErrorIs(t, redisdb.ErrDown, testenv.Err(db.Inspect(t.Context())), "a census of a dead server")
}

// BenchmarkMaster_Walk measures the parts of an audit: pages of keys, alone, and with the type and the TTL or the value
// of each key.
func BenchmarkMaster_Walk(b *testing.B) {
	db, _ := redisdbtest.Real(b)
	const n = 200_000
	for from := int64(0); from < n; from += 10_000 {
		cmds := make([]redisdb.Cmd, 10_000)
		for i := range cmds {
			cmds[i] = redisdb.Command("SET", keyspace.MenuActive(from+int64(i)), "x", "EX", "6000")
		}
		testenv.Must(db.DoMulti(b.Context(), cmds...))(b)
	}
	for name, q := range map[string]redisdb.Lookup{
		"names": redisdb.LookupName, "types": redisdb.LookupType, "texts": redisdb.LookupText,
	} {
		b.Run(name, func(b *testing.B) {
			seen := 0
			for b.Loop() {
				err := db.Walk(b.Context(), "", func(string) redisdb.Lookup { return q },
					func(_ *redisdb.Master, page []redisdb.KeyInfo) error { seen += len(page); return nil })
				if err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(seen)/b.Elapsed().Seconds(), "keys/s")
		})
	}
}
