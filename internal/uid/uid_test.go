package uid

import (
	"encoding/base32"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"comanda/internal/testenv"

	"pgregory.net/rapid"
)

// decode follows RFC 4648 and RFC 9562 alone, so that it checks the encoding instead of repeating it.
func decode(t interface{ Fatalf(string, ...any) }, id string) [16]byte {
	b, err := base32.HexEncoding.WithPadding(base32.NoPadding).DecodeString(strings.ToUpper(id))
	if err != nil || len(b) != 16 {
		t.Fatalf("%q does not decode to 128 bits: %v", id, err)
	}
	return [16]byte(b)
}

func millis(b [16]byte) int64 {
	var ms int64
	for _, x := range b[:6] {
		ms = ms<<8 | int64(x)
	}
	return ms
}

// instants returns the instants of a clock that runs, stands still and steps back.
func instants() *rapid.Generator[[]int64] {
	return rapid.SliceOfN(rapid.Int64Range(0, 1<<47), 1, 50)
}

func TestNew_IsUUIDv7(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s Source
		ms := rapid.Int64Range(1, 1<<48-1).Draw(t, "ms")
		id := s.New(time.UnixMilli(ms))
		if len(id) != Len || !Valid(id) {
			t.Fatalf("identifier %q", id)
		}
		b := decode(t, id)
		if b[6]>>4 != 7 || b[8]>>6 != 0b10 {
			t.Fatalf("version %d, variant %b", b[6]>>4, b[8]>>6)
		}
		testenv.Equal(t, ms, millis(b))
	})
}

func TestSource_NeverOutOfOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s Source
		last := ""
		for _, ms := range instants().Draw(t, "instants") {
			for range rapid.IntRange(1, 5).Draw(t, "count") {
				id := s.New(time.UnixMilli(ms))
				if id <= last {
					t.Fatalf("%s comes after %s", id, last)
				}
				if b := decode(t, id); millis(b) < ms {
					t.Fatalf("the identifier of %d claims %d", ms, millis(b))
				}
				last = id
			}
		}
	})
}

// Identifiers of different sources, as of two instances, are ordered by their instants.
func TestNew_OrderAcrossSources(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var a, b Source
		x := rapid.Int64Range(1, 1<<47).Draw(t, "x")
		y := rapid.Int64Range(x+1, 1<<47+1).Draw(t, "y")
		if early, late := a.New(time.UnixMilli(x)), b.New(time.UnixMilli(y)); early >= late {
			t.Fatalf("%s of %d is not before %s of %d", early, x, late, y)
		}
	})
}

// More than 4,096 identifiers in one millisecond borrow from the next ones instead of repeating.
func TestSource_ManyInOneMillisecond(t *testing.T) {
	var s Source
	now := time.UnixMilli(1_790_000_000_000)
	ids := make([]string, 10_000)
	for i := range ids {
		ids[i] = s.New(now)
	}
	if !slices.IsSorted(ids) || len(slices.Compact(ids)) != len(ids) {
		t.Error("identifiers of one millisecond repeat or disorder")
	}
	if ahead := millis(decode(t, ids[len(ids)-1])) - now.UnixMilli(); ahead != 2 {
		t.Errorf("10,000 identifiers run %d ms ahead, want 2", ahead)
	}
}

func TestNew_ConcurrentAreUnique(t *testing.T) {
	const goroutines, each = 8, 2_000
	ids := make([][]string, goroutines)
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			for range each {
				ids[g] = append(ids[g], New(time.Now()))
			}
		})
	}
	wg.Wait()
	for g := range ids {
		if !slices.IsSorted(ids[g]) {
			t.Errorf("goroutine %d saw its identifiers out of order", g)
		}
	}
	all := slices.Concat(ids...)
	slices.Sort(all)
	testenv.Equal(t, goroutines*each, len(slices.Compact(all)))
}

// The random half never repeats, even when the pool is refilled.
func TestSource_RandomHalfVaries(t *testing.T) {
	var s Source
	seen := map[[8]byte]bool{}
	for range 500 {
		b := decode(t, s.New(time.UnixMilli(5)))
		seen[[8]byte(b[8:])] = true
	}
	if len(seen) != 500 {
		t.Errorf("%d different random halves of 500", len(seen))
	}
}

func TestValid(t *testing.T) {
	good := New(time.Now())
	for s, want := range map[string]bool{
		good: true, "": false, good[1:]: false, good + "0": false, strings.ToUpper(good): false,
		strings.Repeat("w", Len): false, strings.Repeat("-", Len): false, "0" + good[1:25] + "é": false,
		"\x00" + good[1:]: false,
	} {
		if got := Valid(s); got != want {
			t.Errorf("Valid(%q) = %t", s, got)
		}
	}
}

func BenchmarkNew(b *testing.B) {
	now := time.Now()
	for b.Loop() {
		New(now)
	}
}

// A name has one identifier, which is valid, sorts by its instant, and differs for other parts.
func TestNamed(t *testing.T) {
	at := time.Date(2025, 11, 3, 4, 20, 0, 0, time.UTC)
	id := Named(at, "order", "1", "pos-1")
	if id != Named(at, "order", "1", "pos-1") || !Valid(id) {
		t.Errorf("Named = %q, want one valid identifier", id)
	}
	seen := map[string]bool{id: true}
	for _, parts := range [][]string{{"order", "1", "pos-2"}, {"order", "2", "pos-1"}, {"order", "1pos-1"}, {"order", "", "1pos-1"}, nil} {
		other := Named(at, parts...)
		if seen[other] {
			t.Errorf("%q has the identifier of another name", parts)
		}
		seen[other] = true
		if other[:9] != id[:9] { // 45 of the 48 bits of the time
			t.Errorf("%q = %s does not begin with the instant, like %s", parts, other, id)
		}
	}
	if later := Named(at.Add(time.Second), "order", "1", "pos-1"); later <= id {
		t.Errorf("a second later: %s, not after %s", later, id)
	}
	var fresh Source // the shared one never goes back in time
	if n := fresh.New(at); n[:9] != id[:9] {
		t.Errorf("New = %s, want the beginning of %s", n, id)
	}
}
