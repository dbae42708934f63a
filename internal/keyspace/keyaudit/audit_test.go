package keyaudit

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/rueidis"

	"comanda/internal/keyspace"
	"comanda/internal/redisdb"
	"comanda/internal/redisdb/redisdbtest"
	"comanda/internal/testenv"
)

func TestMain(m *testing.M) { redisdbtest.VerifyMain(m) }

const visitID = "01j9v0k4v5m6n7o8p9q0r1s2t3"

// withoutPause returns options of an audit without the pause before the second scan.
func withoutPause() Options {
	return Options{wait: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }}
}

func mustRun(t testing.TB, db *redisdb.DB, o Options) Report {
	t.Helper()
	return testenv.Must(Run(t.Context(), db, o))(t)
}

func must(t testing.TB, db *redisdb.DB, cmds ...redisdb.Cmd) {
	t.Helper()
	testenv.Must(db.DoMulti(t.Context(), cmds...))(t)
}

// fillValid fills a store with n valid users, their indexes, and keys of other packages.
func fillValid(t testing.TB, db *redisdb.DB, n int) {
	t.Helper()
	users := keyspace.UserDocuments
	cmds := []redisdb.Cmd{
		redisdb.Command("SET", keyspace.MenuActive(1), "x", "EX", "60"),
		redisdb.Command("SADD", keyspace.VisitCustomers(visitID), "a"),
		redisdb.Command("EXPIRE", keyspace.VisitCustomers(visitID), "60"),
		redisdb.Command("ZADD", keyspace.LeasesDue(1), "1", "a"),
		redisdb.Command("SETBIT", keyspace.LoginDay("2026-02-26"), "9", "1"), // a string to TYPE
		redisdb.Command("EXPIRE", keyspace.LoginDay("2026-02-26"), "60"),
		redisdb.Command("SET", users.Memo("1"), "x"), // a TTL is allowed, and missing here
		redisdb.Command("SET", users.Counter(), fmt.Sprint(n)),
	}
	for i := range n {
		id := fmt.Sprint(i + 1)
		cmds = append(cmds,
			redisdb.Command("SET", users.Key(id), "{}"), redisdb.Command("SADD", users.List(), id),
			redisdb.Command("SET", keyspace.UserByEmail.Key(id+"@example.com"), id),
			redisdb.Command("SADD", keyspace.UsersByCity.Key(fmt.Sprintf("city%d", i%3)), id))
		if len(cmds) > 1000 {
			must(t, db, cmds...)
			cmds = cmds[:0]
		}
	}
	must(t, db, cmds...)
}

func TestRun_clean(t *testing.T) {
	redisdbtest.Each(t, func(t *testing.T, db *redisdb.DB) {
		const n = 5000 // more than one page per set
		fillValid(t, db, n)
		var done, total int64
		o := withoutPause()
		o.Progress = func(d, of int64) { done, total = d, of }
		r := mustRun(t, db, o)
		if !r.Clean || len(r.Findings) != 0 {
			t.Errorf("findings in a sound store: %+v", r.Findings)
		}
		if r.Keys < 2*n || done == 0 || done > total {
			t.Errorf("%d keys, progress %d of %d", r.Keys, done, total)
		}
		families := map[string]Family{}
		for _, f := range r.Families {
			families[f.Pattern] = f
		}
		if f := families["user:%id%"]; f.Keys != n || f.Bytes < 10*n {
			t.Errorf("%d documents: %+v", n, f)
		}
		s, err := db.Server(t.Context())
		if err != nil || (len(r.Nodes) == 3) != (s.Mode == "cluster") {
			t.Errorf("nodes %v in mode %s, %v", r.Nodes, s.Mode, err)
		}
	})
}

// planted has a finding of each kind, made with declared keys.
var planted = map[Kind]struct {
	cmds    func() []redisdb.Cmd
	count   int64
	samples []string
}{
	WrongType: {
		cmds:    func() []redisdb.Cmd { return []redisdb.Cmd{redisdb.Command("SADD", keyspace.MenuActive(2), "x")} },
		count:   1,
		samples: []string{"cis:menu:active:v2:2: a set instead of a string"},
	},
	MissingTTL: {
		cmds:    func() []redisdb.Cmd { return []redisdb.Cmd{redisdb.Command("SET", keyspace.MenuActive(3), "x")} },
		count:   1,
		samples: []string{"cis:menu:active:v2:3: may live 5m0s"},
	},
	LongTTL: {
		cmds: func() []redisdb.Cmd {
			return []redisdb.Cmd{redisdb.Command("SET", keyspace.MenuActive(4), "x", "EX", "7200")}
		},
		count:   1,
		samples: []string{"cis:menu:active:v2:4: lives 2h0m0s more, at most 5m0s are declared"},
	},
	SuddenTTL: {
		cmds: func() []redisdb.Cmd {
			return []redisdb.Cmd{redisdb.Command("EXPIRE", keyspace.UserDocuments.Key("1"), "3600")}
		},
		count:   1,
		samples: []string{"user:1: goes in 1h0m0s"},
	},
	LostIndex: {
		cmds: func() []redisdb.Cmd {
			return []redisdb.Cmd{redisdb.Command("SET", keyspace.UserByEmail.Key("gone@example.com"), "77")}
		},
		count:   1,
		samples: []string{"user:index:email:gone@example.com: there is no user:77"},
	},
	LostEntry: {
		cmds: func() []redisdb.Cmd {
			return []redisdb.Cmd{
				redisdb.Command("SADD", keyspace.UsersByCity.Key("city1"), "78"), redisdb.Command("SADD", keyspace.UserDocuments.List(), "79"),
			}
		},
		count:   2,
		samples: []string{"user:index:city:city1: there is no user:78", "user:list: there is no user:79"},
	},
	NotListed: {
		cmds: func() []redisdb.Cmd {
			return []redisdb.Cmd{redisdb.Command("SET", keyspace.UserDocuments.Key("80"), "{}")}
		},
		count:   1,
		samples: []string{"user:80"},
	},
}

func TestRun_finds(t *testing.T) {
	redisdbtest.Each(t, func(t *testing.T, db *redisdb.DB) {
		fillValid(t, db, 9)
		for _, p := range planted {
			must(t, db, p.cmds()...)
		}
		r := mustRun(t, db, withoutPause())
		if r.Clean {
			t.Error("a corrupt store is clean")
		}
		for kind, p := range planted {
			i := indexOf(r.Findings, kind)
			if i < 0 {
				t.Errorf("%s is not found", kind)
				continue
			}
			if f := r.Findings[i]; f.Count != p.count || cmp.Diff(p.samples, f.Samples) != "" {
				t.Errorf("finding of %s: count %d, samples %q, want %d, %q", kind, f.Count, f.Samples, p.count, p.samples)
			}
		}
		if len(r.Findings) != len(planted) {
			t.Errorf("findings beyond those planted: %+v", r.Findings)
		}
	})
}

func indexOf(all []Finding, k Kind) int {
	for i, f := range all {
		if f.Kind == k {
			return i
		}
	}
	return -1
}

// Undeclared keys are written with another client. Under another namespace they are ignored.
func TestRun_undeclared_keys(t *testing.T) {
	srv := testenv.RedisServer(t)
	c, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{srv.Addr()}, ForceSingleClient: true, DisableCache: true})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, words := range [][]string{
		{"RPUSH", "queue", "x"}, {"SET", "user:ABC", "x"}, {"SET", "rsv:due:{b1", "x"}, {"XADD", "south:log", "*", "a", "b"},
	} {
		testenv.NoError(t, c.Do(t.Context(), c.B().Arbitrary(words...).Build()).Error())
	}
	for namespace, want := range map[keyspace.Namespace]Finding{
		"":      {Unknown, 4, []string{"queue: a list", "rsv:due:{b1: a string", "south:log: a stream", "user:ABC: a string"}},
		"south": {Unknown, 1, []string{"log: a stream"}},
	} {
		db := testenv.Must(redisdb.Open(t.Context(),
			redisdb.Config{URL: "redis://" + srv.Addr(), Namespace: namespace, Timeout: 5 * time.Second}))(t)
		defer db.Close()
		r := mustRun(t, db, withoutPause())
		if d := cmp.Diff([]Finding{want}, r.Findings); d != "" {
			t.Errorf("findings in namespace %q (-want +got):\n%s", namespace, d)
		}
		if len(r.Families) != 1 || r.Families[0].Pattern != "?" || r.Families[0].Bytes <= 0 {
			t.Errorf("families %+v", r.Families)
		}
	}
}

// A difference that is repaired between the two scans is not a finding (Q2).
func TestRun_looks_twice(t *testing.T) {
	redisdbtest.Each(t, func(t *testing.T, db *redisdb.DB) {
		fillValid(t, db, 9)
		for _, p := range planted {
			must(t, db, p.cmds()...)
		}
		pauses := 0
		r := mustRun(t, db, Options{wait: func(ctx context.Context, d time.Duration) error {
			if pauses++; d != recheckPause {
				t.Errorf("a pause of %v", d)
			}
			users := keyspace.UserDocuments
			must(t, db,
				redisdb.Command("DEL", keyspace.MenuActive(2)), redisdb.Command("EXPIRE", keyspace.MenuActive(3), "60"),
				redisdb.Command("EXPIRE", keyspace.MenuActive(4), "60"), redisdb.Command("PERSIST", users.Key("1")),
				redisdb.Command("SET", users.Key("77"), "{}"), redisdb.Command("SREM", keyspace.UsersByCity.Key("city1"), "78"),
				redisdb.Command("SREM", users.List(), "79"), redisdb.Command("SADD", users.List(), "80"))
			return ctx.Err()
		}})
		if !r.Clean || pauses != 1 {
			t.Errorf("after %d pauses: %+v", pauses, r.Findings)
		}
	})
}

func TestRun_counts_beyond_samples(t *testing.T) {
	db := redisdbtest.Embedded(t)
	var cmds []redisdb.Cmd
	for i := range int64(2500) {
		cmds = append(cmds, redisdb.Command("SET", keyspace.MenuActive(i), "x"))
	}
	must(t, db, cmds...)
	o := withoutPause()
	o.Samples = 3
	r := mustRun(t, db, o)
	if r.Count(MissingTTL) != 2500 || len(r.Findings[0].Samples) != 3 {
		t.Errorf("findings = %+v, want 2500 without a TTL and 3 samples", r.Findings)
	}
}

// An audit that is ahead of its rate waits for the difference.
func TestRun_rate(t *testing.T) {
	db, _ := redisdbtest.Real(t)
	fillValid(t, db, 5000)
	var waited time.Duration
	o := Options{Rate: 1000, wait: func(_ context.Context, d time.Duration) error {
		waited = max(waited, d)
		return nil
	}}
	r := mustRun(t, db, o)
	if want := time.Duration(r.Keys/1000) * time.Second; waited < want-2*time.Second || waited > want+time.Second {
		t.Errorf("%d keys at 1000 a second, at the end %v ahead", r.Keys, waited)
	}
	stop := errors.New("stop")
	o.wait = func(context.Context, time.Duration) error { return stop }
	testenv.ErrorIs(t, stop, testenv.Err(Run(t.Context(), db, o)), "the walk goes on")
}

func TestRun_server_down(t *testing.T) {
	db, srv := redisdbtest.Real(t)
	srv.Kill()
	testenv.ErrorIs(t, redisdb.ErrDown, testenv.Err(Run(t.Context(), db, withoutPause())), "Run without a server")
}

func TestKinds_are_all_tried(t *testing.T) {
	for _, k := range Kinds() {
		if _, ok := planted[k]; !ok && k != Unknown {
			t.Errorf("no test plants %s", k)
		}
		if strings.ToLower(string(k)) != string(k) {
			t.Errorf("kind %s, want lower case", k)
		}
	}
}

// A limited audit checks all keys or none: checking half of them would report false orphans.
func TestRun_most(t *testing.T) {
	db := redisdbtest.Embedded(t)
	fillValid(t, db, 9)
	o := withoutPause()
	all := mustRun(t, db, o)
	o.MaxKeys = all.Keys - 1
	if r, err := Run(t.Context(), db, o); !errors.Is(err, ErrTooMany) || r.Keys != 0 {
		t.Errorf("%d keys, %v", r.Keys, err)
	}
	o.MaxKeys++
	if r := mustRun(t, db, o); r.Keys != all.Keys || !r.Clean {
		t.Errorf("Run = %+v, want %d keys and no finding", r, all.Keys)
	}
}
