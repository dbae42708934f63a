package telemetry

import (
	"errors"
	"io"
	"sync"
	"time"
)

const (
	// FlushEvery is the maximum time that a record stays in memory.
	FlushEvery = 200 * time.Millisecond

	// flushAt is the buffer size at which Write flushes synchronously. Writers then wait for the output, so memory
	// stays bounded and no record is dropped when the output is slow.
	flushAt = 64 << 10
)

// Buffer collects writes and passes them to the output in one piece, at most FlushEvery after the first of them. It has
// no goroutine of its own, so an idle buffer costs nothing and needs no Close. It is safe for concurrent use; one Write
// is never split between two pieces.
type Buffer struct {
	mu    sync.Mutex // guards the fields below; held only while copying
	buf   []byte
	timer *time.Timer // runs Flush; armed while buf is not empty
	shut  bool
	err   error // the first failure of the output since the last Flush or Close reported one

	out   io.Writer
	outMu sync.Mutex // held while writing to out, to keep the order of pieces; locked before mu
	spare []byte     // the last written piece, reused for the next
}

// NewBuffer returns a buffer for an output.
func NewBuffer(out io.Writer) *Buffer { return &Buffer{out: out} }

// Write never returns an error of the output: a full log must not stop the program. Flush returns such errors. It
// copies p and keeps no reference, as io.Writer requires. It waits for the output only if the buffer is full or closed.
func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	if len(b.buf) == 0 {
		b.startTimer()
	}
	b.buf = append(b.buf, p...)
	due := b.shut || len(b.buf) >= flushAt
	b.mu.Unlock()
	if due {
		b.drain()
	}
	return len(p), nil
}

// Flush writes all buffered data and returns the first error of the output since the last Flush.
func (b *Buffer) Flush() error {
	b.drain()
	b.mu.Lock()
	defer b.mu.Unlock()
	err := b.err
	b.err = nil
	return err
}

// Close flushes. Later writes go to the output immediately, so that the last records of a stopping process are not
// lost. It does not close the output.
func (b *Buffer) Close() error {
	b.mu.Lock()
	b.shut = true
	b.mu.Unlock()
	return b.Flush()
}

// startTimer starts the timer of the first record in an empty buffer. The caller holds mu.
func (b *Buffer) startTimer() {
	if b.timer == nil {
		b.timer = time.AfterFunc(FlushEvery, b.drain)
		return
	}
	b.timer.Reset(FlushEvery)
}

// drain writes all that is buffered. It holds mu only to swap the two slices, so writers do not wait for the output;
// outMu comes first, so that two drains cannot write their pieces in the wrong order.
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

	// Another drain may have written everything already. The memory of both slices is kept.
	if len(piece) == 0 {
		b.spare = piece
		return
	}
	_, err := b.out.Write(piece)
	b.spare = nil
	if cap(piece) <= 2*flushAt { // do not keep the memory of one huge record
		b.spare = piece[:0]
	}
	if err != nil {
		b.mu.Lock()
		b.err = errors.Join(b.err, err)
		b.mu.Unlock()
	}
}
