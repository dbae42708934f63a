package telemetry

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"comanda/internal/testenv"
)

// sink is an output that stores its writes and can fail.
type sink struct {
	mu     sync.Mutex
	pieces []string
	err    error
}

func (s *sink) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pieces = append(s.pieces, string(p))
	return len(p), s.err
}

func (s *sink) list() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.pieces)
}

func (s *sink) all() string { return strings.Join(s.list(), "") }

// T2: nothing is written before the deadline, and one piece at it.
func TestBuffer_FlushesAfterTheInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &sink{}
		b := NewBuffer(out)
		for round := 1; round <= 3; round++ {
			fmt.Fprint(b, "a")
			time.Sleep(FlushEvery / 2)
			fmt.Fprint(b, "b")
			time.Sleep(FlushEvery/2 - 1)
			synctest.Wait()
			if got := len(out.list()); got != round-1 {
				t.Fatalf("round %d: %d pieces before the interval has passed", round, got)
			}
			time.Sleep(time.Nanosecond)
			synctest.Wait()
			if got := out.list(); len(got) != round || got[round-1] != "ab" {
				t.Fatalf("round %d: pieces %q", round, got)
			}
		}
	})
}

func TestBuffer_FullBufferDoesNotWait(t *testing.T) {
	out := &sink{}
	b := NewBuffer(out)
	line := bytes.Repeat([]byte("x"), flushAt/4)
	for range 4 {
		testenv.Must(b.Write(line))(t)
	}
	if got := len(out.all()); got != flushAt {
		t.Errorf("%d bytes written, want %d", got, flushAt)
	}
	testenv.NoError(t, b.Close())
}

func TestBuffer_CloseFlushesAndWritesThroughAfterwards(t *testing.T) {
	out := &sink{}
	b := NewBuffer(out)
	fmt.Fprint(b, "one ")
	testenv.NoError(t, b.Close())
	fmt.Fprint(b, "two")
	if got := out.all(); got != "one two" {
		t.Errorf("output %q", got)
	}
}

func TestBuffer_ReportsTheOutputsFailureOnce(t *testing.T) {
	full := errors.New("no space left on device")
	b := NewBuffer(&sink{err: full})
	if n, err := b.Write([]byte("abc")); n != 3 || err != nil {
		t.Fatalf("Write = %d, %v: logging must not fail", n, err)
	}
	if err := b.Flush(); !errors.Is(err, full) {
		t.Errorf("Flush = %v, want the failure of the output", err)
	}
	if err := b.Flush(); err != nil {
		t.Errorf("second Flush = %v, want nothing new", err)
	}
}

func TestBuffer_concurrent_lines(t *testing.T) {
	out := &sink{}
	b := NewBuffer(out)
	const writers, lines = 8, 2_000
	var wg sync.WaitGroup
	for w := range writers {
		line := []byte(strings.Repeat(string(rune('a'+w)), 50) + "\n")
		wg.Go(func() {
			for range lines {
				_, _ = b.Write(line)
			}
		})
	}
	wg.Wait()
	testenv.NoError(t, b.Close())
	got := strings.Split(strings.TrimSuffix(out.all(), "\n"), "\n")
	if len(got) != writers*lines {
		t.Fatalf("%d lines, want %d", len(got), writers*lines)
	}
	for _, line := range got {
		if len(line) != 50 || strings.Count(line, line[:1]) != 50 {
			t.Fatalf("a torn line: %q", line)
		}
	}
}

func BenchmarkBuffer_Write(b *testing.B) {
	buf := NewBuffer(io.Discard)
	line := bytes.Repeat([]byte("x"), 300)
	for b.Loop() {
		_, _ = buf.Write(line)
	}
	_ = buf.Close()
}
