package documentredis

import (
	"context"
	"runtime/debug"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"comanda/internal/document"
	"comanda/internal/keyspace"
	"comanda/internal/redisdb"
	"comanda/internal/redisdb/redisdbtest"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/testenv"
)

const (
	benchUsers  = 20_000
	benchOrders = 20_000 // orders of three lines
)

// benchRig is PostgreSQL and Redis with enough documents for a benchmark.
func benchRig(b *testing.B) *fixture {
	b.Helper()
	debug.SetGCPercent(300) // as the program does
	redis, server := redisdbtest.Real(b)
	r := newFixture(sqldbtest.Postgres(b), redis)
	testenv.NoError(b, r.data.Fill(b.Context(), benchUsers, benchOrders))
	r.server = server
	return r
}

func report(b *testing.B, documents int) {
	b.ReportMetric(float64(documents*b.N)/b.Elapsed().Seconds(), "documents/s")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkRebuild writes all documents to an empty Redis.
func BenchmarkRebuild(b *testing.B) {
	r := benchRig(b)
	n := 0
	for b.Loop() {
		b.StopTimer()
		if reply := r.server.Say("FLUSHALL"); !strings.HasPrefix(reply, "+OK") {
			b.Fatal(reply)
		}
		b.StartTimer()
		builder := r.builder()
		builder.Report = func(p document.Progress) { n = p.Done }
		testenv.NoError(b, builder.Build(b.Context()))
	}
	report(b, n)
}

// BenchmarkVerify compares all documents in both directions.
func BenchmarkVerify(b *testing.B) {
	r := benchRig(b)
	testenv.NoError(b, r.builder().Build(b.Context()))
	v := &document.Verifier{Source: r.sql, Mirror: r.store}
	n := 0
	for b.Loop() {
		found, err := v.Verify(b.Context())
		testenv.NoError(b, err)
		if !found.Clean {
			b.Fatal(found)
		}
		n = 0
		for _, documents := range found.Documents {
			n += documents
		}
	}
	report(b, n)
}

// BenchmarkSampler measures what a sampling pass costs the server while nothing is lost.
func BenchmarkSampler(b *testing.B) {
	r := benchRig(b)
	r.project(b)
	testenv.NoError(b, r.builder().Build(b.Context()), r.generation.Reconcile(b.Context()))
	var last document.Sample
	s := r.sampler(func(_ context.Context, s document.Sample) { last = s })
	testenv.NoError(b, s.RunOnce(b.Context())) // this run only counts
	r.server.Say("CONFIG RESETSTAT")
	n := 0
	for b.Loop() {
		testenv.NoError(b, s.RunOnce(b.Context()))
		if len(last.Lost) > 0 {
			b.Fatal(last.Lost)
		}
		n++
	}
	calls, usec := 0.0, 0.0
	for line := range strings.Lines(r.server.Say("INFO commandstats")) {
		_, after, _ := strings.Cut(line, ":calls=")
		c, rest, _ := strings.Cut(after, ",usec=")
		u, _, _ := strings.Cut(rest, ",")
		number := func(text string) float64 { f, _ := strconv.ParseFloat(text, 64); return f }
		calls, usec = calls+number(c), usec+number(u)
	}
	b.ReportMetric(float64(last.Documents), "documents/pass")
	b.ReportMetric(float64(last.Sets), "sets/pass")
	b.ReportMetric(calls/float64(n), "commands/pass")
	b.ReportMetric(usec/float64(n)/1000, "redis-ms/pass")
}

// BenchmarkBy reads accounts by their e-mail addresses, and compares with only the two Redis commands.
func BenchmarkBy(b *testing.B) {
	r := benchRig(b)
	testenv.NoError(b, r.builder().Build(b.Context()), r.generation.Reconcile(b.Context()))
	if r.generation.Epoch() == "" {
		b.Fatal("the generation is cold")
	}
	email := func(n int64) string { return "user" + strconv.FormatInt(1+n*7919%benchUsers, 10) + "@example.com" }
	var limit float64 // reads per second of the two commands alone
	b.Run("raw", func(b *testing.B) {
		limit = parallel(b, func(n int64) { raw(b, r.redis, email(n)) })
	})
	b.Run("reader", func(b *testing.B) {
		rate := parallel(b, func(n int64) {
			_, found, err := r.reader.FindUnique(b.Context(), document.User, "email", email(n))
			if err != nil || !found {
				b.Error(found, err)
			}
		})
		b.ReportMetric(rate/limit, "of_raw") // as measured before on the same server
	})
}

// parallel measures reads of many clients at the same time.
func parallel(b *testing.B, read func(n int64)) (rate float64) {
	b.Helper()
	var n atomic.Int64
	b.SetParallelism(64)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			read(n.Add(1))
		}
	})
	rate = float64(b.N) / b.Elapsed().Seconds()
	b.ReportMetric(rate, "reads/s")
	return rate
}

func raw(b *testing.B, db *redisdb.DB, email string) {
	id, _, err := db.Do(b.Context(), "GET", keyspace.UserByEmail.Key(email)).Text()
	if err != nil {
		b.Error(err)
	}
	if _, found, err := db.Do(b.Context(), "GET", keyspace.UserDocuments.Key(id)).Text(); err != nil || !found {
		b.Error(found, err)
	}
}
