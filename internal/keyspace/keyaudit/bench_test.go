package keyaudit

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"comanda/internal/keyspace"
	"comanda/internal/redisdb"
	"comanda/internal/redisdb/redisdbtest"
	"comanda/internal/uid"
)

// BenchmarkRun measures the audit of a restaurant with a hundred thousand members and their orders, and in the same run
// the bare walk: SCAN and nothing else.
func BenchmarkRun(b *testing.B) {
	db, _ := redisdbtest.Real(b)
	fillMembers(b, db, 100_000)
	b.ResetTimer()
	var keys, scanned int64
	var auditing, scanning time.Duration
	for b.Loop() {
		begun := time.Now()
		r := mustRun(b, db, withoutPause())
		auditing += time.Since(begun)
		if !r.Clean || r.Keys < 500_000 {
			b.Fatalf("%d keys, %+v", r.Keys, r.Findings)
		}
		keys += r.Keys

		begun = time.Now()
		err := db.Walk(b.Context(), "", nil, func(_ *redisdb.Master, page []redisdb.KeyInfo) error {
			scanned += int64(len(page))
			return nil
		})
		scanning += time.Since(begun)
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(keys)/auditing.Seconds(), "keys/s")
	b.ReportMetric(float64(scanned)/scanning.Seconds(), "scan-keys/s")
	b.ReportMetric(float64(keys)/float64(b.N), "keys")
}

// fillMembers writes the keys of n members and n/5 orders with two lines, in every family that grows.
func fillMembers(b *testing.B, db *redisdb.DB, n int) {
	b.Helper()
	var cmds []redisdb.Cmd
	put := func(verb string, key keyspace.Key, args ...string) {
		cmds = append(cmds, redisdb.Command(verb, key, args...))
	}
	flush := func() {
		must(b, db, cmds...)
		cmds = cmds[:0]
	}
	for i := range n {
		member(put, i+1)
		if i%5 == 0 {
			anOrder(put, int64(i+1))
		}
		if len(cmds) > 1000 {
			flush()
		}
	}
	flush()
}

type putter func(verb string, key keyspace.Key, args ...string)

var body = `{"id":"1","fields":"` + strings.Repeat("x", 400) + `","version":3}`

func member(put putter, n int) {
	id, users := fmt.Sprint(n), keyspace.UserDocuments
	put("SET", users.Key(id), body)
	put("SET", users.Memo(id), `{"v":3,"keys":["user:index:email:`+id+`@example.com"]}`)
	put("SADD", users.List(), id)
	put("SET", keyspace.UserByEmail.Key(id+"@example.com"), id)
	put("SET", keyspace.UserByUsername.Key("guest"+id), id)
	put("SADD", keyspace.UsersByProvince.Key(fmt.Sprint("p", n%60)), id)
	put("SADD", keyspace.UsersByCity.Key(fmt.Sprint("c", n%700)), id)
	if n%4 == 0 {
		session := keyspace.Session(uid.New(time.Now()))
		put("HSET", session, "userId", id, "role", "USER")
		put("EXPIRE", session, "1800")
	}
	put("SET", keyspace.RefreshToken(id), id, "EX", "600000")
	put("SET", keyspace.Rate("login_ip", id), "1", "EX", "3000")
}

func anOrder(put putter, n int64) {
	id, orders, details := uid.New(time.Now()), keyspace.OrderDocuments, keyspace.OrderDetailDocuments
	put("SET", orders.Key(id), body)
	put("SET", orders.Memo(id), "{}")
	put("SADD", orders.List(), id)
	put("SADD", keyspace.OrdersByUser.Key(fmt.Sprint(n)), id)
	put("SADD", keyspace.UserOrders.Key(fmt.Sprint(n)), id)
	for line := range 2 {
		detail := fmt.Sprint(id, "-", line+1)
		put("SET", details.Key(detail), body)
		put("SET", details.Memo(detail), "{}")
		put("SADD", details.List(), detail)
		put("SADD", keyspace.OrderDetails.Key(id), detail)
		put("SADD", keyspace.OrderDetailsByOrder.Key(id), detail)
	}
	hold := keyspace.HoldRecord(1+n%20, id)
	put("HSET", hold, "s", "H", "11", "2", "__bizDate", "2026-02-26", "__branchId", "1")
	put("EXPIRE", hold, "100000")
	put("SET", keyspace.VisitByCustomer(id), id+"|1|3", "EX", "10000")
	put("SADD", keyspace.VisitCustomers(id), keyspace.Secret(id))
	put("EXPIRE", keyspace.VisitCustomers(id), "10000")
}
