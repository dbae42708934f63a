package telemetry

import (
	"errors"
	"io"
	"sync"
	"time"
)

const (
	// FlushEvery is the longest time that a record waits in memory.
	FlushEvery = 200 * time.Millisecond

	// flushAt is the size at which a writer flushes by itself. Callers then wait for the output: memory stays bounded and
	// no record is dropped when the output is slower than the log.
	flushAt = 64 << 10
)

// Buffer collects writes and hands them to the output in one piece, FlushEvery after the first of them at the latest.
// It keeps no goroutine: an idle buffer costs nothing and needs no Close to be collected. It is safe for concurrent
// use; one Write is never divided between two pieces.
type Buffer struct {
	mu    sync.Mutex // guards what follows; held for copying only
	buf   []byte
	timer *time.Timer // runs Flush; armed while buf holds anything
	shut  bool
	err   error // the first failure of the output since the last Flush or Close reported one

	out   io.Writer
	outMu sync.Mutex // held while writing to out, so that pieces keep their order; taken before mu
	spare []byte     // the piece that was written last, to be filled next
}

// NewBuffer makes a buffer before an output.
func NewBuffer(out io.Writer) *Buffer { return &Buffer{out: out} }

// Write never fails for the output's sake: a program must not stop because its log is full. Flush reports failures.
func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	if len(b.buf) == 0 {
		b.arm()
	}
	b.buf = append(b.buf, p...)
	due := b.shut || len(b.buf) >= flushAt
	b.mu.Unlock()
	if due {
		b.drain()
	}
	return len(p), nil
}

// Flush writes everything out and reports the first failure since the last report.
func (b *Buffer) Flush() error {
	b.drain()
	b.mu.Lock()
	defer b.mu.Unlock()
	err := b.err
	b.err = nil
	return err
}

// Close flushes; later writes go to the output at once, so that the last words of a stopping process are not lost.
// It does not close the output.
func (b *Buffer) Close() error {
	b.mu.Lock()
	b.shut = true
	b.mu.Unlock()
	return b.Flush()
}

func (b *Buffer) arm() {
	if b.timer == nil {
		b.timer = time.AfterFunc(FlushEvery, b.drain)
		return
	}
	b.timer.Reset(FlushEvery)
}

func (b *Buffer) drain() {
	b.outMu.Lock()
	defer b.outMu.Unlock()

	b.mu.Lock()
	piece := b.buf
	b.buf = b.spare[:0]
	if b.timer != nil {
		b.timer.Stop()
	}
	b.mu.Unlock()

	if len(piece) == 0 {
		b.spare = piece
		return
	}
	_, err := b.out.Write(piece)
	b.spare = nil
	if cap(piece) <= 2*flushAt { // one enormous record must not be kept for ever
		b.spare = piece[:0]
	}
	if err != nil {
		b.mu.Lock()
		b.err = errors.Join(b.err, err)
		b.mu.Unlock()
	}
}
