package keyaudit

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"comanda/internal/keyspace"
	"comanda/internal/redisdb"
	"comanda/internal/redisdb/redisdbtest"
	"comanda/internal/testenv"
)

// restaurant-redis 9.2: the report names the longest keys of each family and the largest of all, whatever their type and
// their place in the scan.
func TestRun_largest(t *testing.T) {
	redisdbtest.Each(t, func(t *testing.T, db *redisdb.DB) {
		fillValid(t, db, 3000)
		long := keyspace.HoldRecord(1, visitID)
		cmds := []redisdb.Cmd{
			redisdb.Command("SET", keyspace.MenuActive(5), strings.Repeat("x", 300_000), "EX", "60"),
			redisdb.Command("HSET", long, fields(400)...), redisdb.Command("EXPIRE", long, "60"),
			redisdb.Command("ZADD", keyspace.LeasesDue(2), scores(70)...),
		}
		must(t, db, cmds...)
		r := mustRun(t, db, withoutPause())

		testenv.Equal(t, largestKeys, len(r.Largest))
		lengths := map[string]Key{}
		for _, f := range r.Families {
			if len(f.Longest) == 0 || len(f.Longest) > longestPerFamily {
				t.Errorf("%s: %d longest keys", f.Pattern, len(f.Longest))
			}
			if !slices.IsSortedFunc(f.Longest, func(a, b Key) int { return int(b.Length - a.Length) }) {
				t.Errorf("%s: not sorted: %+v", f.Pattern, f.Longest)
			}
			for _, k := range f.Longest {
				lengths[k.Key] = k
			}
		}
		for key, want := range map[keyspace.Key]Key{
			keyspace.MenuActive(5):            {Type: "string", Length: 300_000},
			keyspace.UserDocuments.List():     {Type: "set", Length: 3000},
			keyspace.UsersByCity.Key("city0"): {Type: "set", Length: 1000},
			long:                              {Type: "hash", Length: 400},
			keyspace.LeasesDue(2):             {Type: "zset", Length: 70},
			keyspace.VisitCustomers(visitID):  {Type: "set", Length: 1},
		} {
			got, ok := lengths[key.String()]
			if !ok || got.Type != want.Type || got.Length != want.Length {
				t.Errorf("%s: %+v, %t, want %s of %d", key, got, ok, want.Type, want.Length)
			}
		}
		s, err := db.Server(t.Context())
		if err != nil || s.Embedded { // it does not report the memory of keys
			return
		}
		if k := r.Largest[0]; k.Key != keyspace.MenuActive(5).String() || k.Bytes < 300_000 {
			t.Errorf("the largest key is %+v, want the menu of 300 kB", k)
		}
		for _, n := range r.Nodes {
			if n.Used == 0 {
				t.Errorf("node %+v does not say how much memory is used", n)
			}
		}
	})
}

func fields(n int) []string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprint("f", i), "1")
	}
	return all
}

func scores(n int) []string {
	var all []string
	for i := range n {
		all = append(all, "1", fmt.Sprint("m", i))
	}
	return all
}

// Only the longest keys are measured and kept, so the cost does not depend on the number of keys.
func TestFamilyTally_candidate(t *testing.T) {
	var f familyTally
	for _, n := range []int64{3, 9, 1, 9, 5, 7, 0} {
		f.candidate(Key{Key: fmt.Sprint("k", n), Length: n})
	}
	var got []string
	for _, k := range f.longest {
		got = append(got, k.Key)
	}
	testenv.Equal(t, []string{"k9", "k7", "k5"}, got)
}
