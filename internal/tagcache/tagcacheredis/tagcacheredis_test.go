package tagcacheredis_test

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"comanda/internal/keyspace"
	"comanda/internal/redisdb"
	"comanda/internal/redisdb/redisdbtest"
	"comanda/internal/tagcache"
	"comanda/internal/tagcache/tagcacheredis"
	"comanda/internal/tagcache/tagcachetest"
	"comanda/internal/testenv"
)

func TestMain(m *testing.M) {
	if os.Getenv(readerRedis) != "" {
		if err := readElsewhere(context.Background(), os.Getenv(readerRedis), os.Getenv(readerTruth)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	redisdbtest.VerifyMain(m)
}

func TestStore(t *testing.T) {
	redisdbtest.Each(t, func(t *testing.T, db *redisdb.DB) {
		tagcachetest.Store(t, func(t *testing.T) tagcache.Store {
			// Subtests share a server: each begins without the values of the one before.
			s := tagcacheredis.New(db, time.Now)
			testenv.NoError(t,
				s.Invalidate(t.Context(), tagcache.Reports, tagcachetest.Branch, tagcache.DateRange{}),
				db.Do(t.Context(), "DEL", tagcache.Reports.Tags(tagcachetest.Branch)).Err())
			return s
		})
	})
}

func entry() tagcache.Entry {
	return tagcache.NewEntry(tagcache.Reports, tagcache.List, 7, tagcache.DateRange{From: "2026-01-01", To: "2026-01-31"}, "days")
}

// Every key has a TTL within its declaration.
func TestStore_keys_expire(t *testing.T) {
	redisdbtest.Each(t, func(t *testing.T, db *redisdb.DB) {
		s, e := tagcacheredis.New(db, time.Now), entry()
		check := func(keys ...keyspace.Key) {
			t.Helper()
			for _, k := range keys {
				ttl, err := db.Do(t.Context(), "PTTL", k).Int()
				if most := k.Decl().TTL.Max.Milliseconds(); err != nil || ttl <= 0 || ttl > most {
					t.Errorf("%s lives %d ms, at most %d, %v", k, ttl, most, err)
				}
			}
		}
		_, _, err := s.Lookup(t.Context(), e, "a")
		testenv.NoError(t, err)
		check(e.Family.Lock(7, e.Hash), e.Family.Tags(7))
		if stored, err := s.Fill(t.Context(), e, "a", []byte("x"), tagcache.DetailLife); !stored || err != nil {
			t.Fatalf("Fill = %t, %v", stored, err)
		}
		check(e.Family.Value(e.Kind, 7, e.Hash), e.Family.Tags(7))
		if n, err := db.Do(t.Context(), "EXISTS", e.Family.Lock(7, e.Hash)).Int(); n != 0 || err != nil {
			t.Errorf("the lease was not ended: %d, %v", n, err)
		}
	})
}

// A value that this installation has not written is not served, and replaced.
func TestStore_refuses_foreign_values(t *testing.T) {
	redisdbtest.Each(t, func(t *testing.T, db *redisdb.DB) {
		c, e := &tagcache.Cache{Store: tagcacheredis.New(db, time.Now)}, entry()
		key := e.Family.Value(e.Kind, 7, e.Hash)
		other := tagcache.NewEntry(e.Family, e.Kind, 7, e.Dates, "other")
		otherKey := e.Family.Value(e.Kind, 7, other.Hash)
		for name, text := range map[string]string{
			"short": "x", "unsealed": "0123456789012345678901forged", "of another key": db.Seal(otherKey, "forged") + "forged",
		} {
			testenv.NoError(t, db.Do(t.Context(), "SET", key, text, "PX", "60000").Err())
			v, err := c.Load(t.Context(), e, time.Minute, func(context.Context) ([]byte, error) { return []byte("own"), nil })
			if string(v) != "own" || err != nil {
				t.Errorf("%s: read %q, %v", name, v, err)
			}
			if text, _, err := db.Do(t.Context(), "GET", key).Text(); text != db.Seal(key, "own")+"own" || err != nil {
				t.Errorf("%s: not replaced: %q, %v", name, text, err)
			}
		}
	})
}

// Without Redis every value is computed, and an invalidation reports that it has to be repeated.
func TestStore_without_redis(t *testing.T) {
	db, server := redisdbtest.Real(t)
	c, e := &tagcache.Cache{Store: tagcacheredis.New(db, time.Now)}, entry()
	server.Kill()
	for range 3 {
		v, err := c.Load(t.Context(), e, time.Minute, func(context.Context) ([]byte, error) { return []byte("own"), nil })
		if string(v) != "own" || err != nil {
			t.Errorf("read %q, %v", v, err)
		}
	}
	if err := c.Invalidate(t.Context(), e.Family, 7, tagcache.DateRange{}); err == nil {
		t.Error("Invalidate succeeded without Redis")
	}
}

// An emptied Redis forgets values and leases. What was being computed then is not stored.
func TestStore_flushed(t *testing.T) {
	db, server := redisdbtest.Real(t)
	c, e := &tagcache.Cache{Store: tagcacheredis.New(db, time.Now)}, entry()
	load := func(value string, during func()) string {
		t.Helper()
		return string(testenv.Must(c.Load(t.Context(), e, time.Minute, func(context.Context) ([]byte, error) {
			during()
			return []byte(value), nil
		}))(t))
	}
	flush := func() { server.Say("FLUSHALL") }
	testenv.Equal(t, "1", load("1", flush))
	if v := load("2", func() {}); v != "2" {
		t.Errorf("read %q: a value computed before the flush was stored", v)
	}
	flush()
	testenv.Equal(t, "3", load("3", func() {}))
}

const (
	readerRedis = "TAGCACHE_TEST_REDIS" // the process only reads values of this Redis
	readerTruth = "TAGCACHE_TEST_TRUTH" // the address of a truthServer

	processRounds = 10_000
)

var sealKey = []byte("0123456789abcdef0123456789abcdef")

// truth is a number that changes, and the number whose invalidation has finished. Another process reads both over TCP.
type truth struct{ current, finished atomic.Int64 }

// serve answers t with the number and f with the finished one, 8 bytes each, until the listener closes.
func (s *truth) serve(l net.Listener, wg *sync.WaitGroup) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		wg.Go(func() {
			defer conn.Close()
			ask := make([]byte, 1)
			for {
				if _, err := io.ReadFull(conn, ask); err != nil {
					return
				}
				n := s.current.Load()
				if ask[0] == 'f' {
					n = s.finished.Load()
				}
				if binary.Write(conn, binary.BigEndian, n) != nil {
					return
				}
			}
		})
	}
}

// readElsewhere is the second process: it loads the number until its input ends, slowly, and prints how often, and how
// often the number was older than the last finished invalidation.
func readElsewhere(ctx context.Context, url, address string) error {
	db, err := redisdb.Open(ctx, redisdb.Config{URL: url})
	if err != nil {
		return err
	}
	defer db.Close()
	db.UseSealKey(sealKey)
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	defer conn.Close()
	ask := func(what string) (n int64, err error) {
		_, err = io.WriteString(conn, what)
		return n, errors.Join(err, binary.Read(conn, binary.BigEndian, &n))
	}
	ended := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(ended)
	}()
	fmt.Println("ready")
	c := &tagcache.Cache{Store: tagcacheredis.New(db, time.Now)}
	reads, stale := 0, 0
	for ; ; reads++ {
		select {
		case <-ended:
			fmt.Println(reads, stale)
			return nil
		default:
		}
		least, err := ask("f")
		if err != nil {
			return err
		}
		value, err := c.Load(ctx, entry(), time.Minute, func(context.Context) ([]byte, error) {
			n, err := ask("t")
			for range n % 8 { // slow: the number may change before it is stored
				_, again := ask("t")
				err = errors.Join(err, again)
			}
			return strconv.AppendInt(nil, n, 10), err
		})
		if err != nil {
			return err
		}
		n, err := strconv.ParseInt(string(value), 10, 64)
		if err != nil {
			return err
		}
		if n < least {
			stale++
		}
	}
}

// TestReference_001_B10 is row B10 of the reference on key names: values are invalidated by their tags. Two
// processes read a number that changes 10,000 times, one of them slowly; neither receives an invalidated value.
func TestReference_001_B10(t *testing.T) {
	db, server := redisdbtest.Real(t)
	db.UseSealKey(sealKey)
	listener := testenv.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	var s truth
	var serving sync.WaitGroup
	serving.Go(func() { s.serve(listener, &serving) })

	other := exec.CommandContext(t.Context(), os.Args[0])
	other.Env = append(os.Environ(), readerRedis+"=redis://"+server.Addr(), readerTruth+"="+listener.Addr().String())
	other.Stderr = os.Stderr
	in := testenv.Must(other.StdinPipe())(t)
	out := bufio.NewReader(testenv.Must(other.StdoutPipe())(t))
	testenv.NoError(t, other.Start())
	if line, err := out.ReadString('\n'); line != "ready\n" {
		t.Fatalf("first line of the other process = %q, %v", line, err)
	}
	c := &tagcache.Cache{Store: tagcacheredis.New(db, time.Now)}
	day := tagcache.DateRange{From: "2026-01-07", To: "2026-01-07"}
	for range processRounds {
		n := s.current.Add(1)
		testenv.NoError(t, c.Invalidate(t.Context(), tagcache.Reports, 7, day))
		s.finished.Store(n)
		value := testenv.Must(c.Load(t.Context(), entry(), time.Minute, func(context.Context) ([]byte, error) {
			return strconv.AppendInt(nil, s.current.Load(), 10), nil
		}))(t)
		if want := strconv.FormatInt(n, 10); string(value) != want {
			t.Fatalf("read %s after the invalidation of %s", value, want)
		}
	}
	testenv.NoError(t, in.Close())
	var reads, stale int
	line := testenv.Must(out.ReadString('\n'))(t)
	testenv.Must(fmt.Sscan(line, &reads, &stale))(t)
	testenv.NoError(t, other.Wait(), listener.Close())
	serving.Wait()
	t.Logf("the other process read %d times in %d rounds", reads, processRounds)
	if stale != 0 || reads < processRounds/10 {
		t.Errorf("the other process read %d times, %d of them an invalidated value", reads, stale)
	}
}
