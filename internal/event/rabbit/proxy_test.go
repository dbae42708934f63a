package rabbit

import (
	"bytes"
	"io"
	"sync"
	"testing"

	"comanda/internal/testenv"
)

// proxy is the network between a test and the broker. It can also lose and hold back what the broker sends.
type proxy struct {
	testenv.Proxy

	mu      sync.Mutex
	budget  int           // bytes from the broker until the next cut; negative is no limit
	confirm bool          // the next confirm is cut off
	gate    chan struct{} // closed while bytes from the broker are forwarded
}

// newProxy returns a proxy and the broker's URL through it.
func newProxy(t testing.TB, address string) (*proxy, string) {
	t.Helper()
	p := &proxy{budget: -1, gate: make(chan struct{})}
	close(p.gate)
	p.Replies = p.forward
	through := p.StartURL(t, address)
	t.Cleanup(p.resume) // before the proxy waits for what it forwards
	return p, through.String()
}

// forward copies in small pieces, so that a cut may divide a frame.
func (p *proxy) forward(client io.Writer, broker io.Reader) {
	buf := make([]byte, 512)
	for {
		n, err := broker.Read(buf)
		if n > 0 {
			p.meter(buf[:n])
			_, err = client.Write(buf[:n])
		}
		if err != nil {
			return
		}
	}
}

// basicAck begins the payload of a confirm: class 60, method 80 (AMQP 0-9-1, section 1.8.3.13).
var basicAck = []byte{0, 60, 0, 80}

// meter waits at the gate, and cuts the connection when the budget is used up or a confirm must be lost.
func (p *proxy) meter(b []byte) {
	p.mu.Lock()
	gate := p.gate
	p.mu.Unlock()
	<-gate
	p.mu.Lock()
	used := p.budget >= 0 && p.budget < len(b)
	if p.budget >= 0 {
		p.budget -= min(len(b), p.budget)
	}
	if used {
		p.budget = -1
	}
	confirmed := p.confirm && bytes.Contains(b, basicAck)
	if confirmed {
		p.confirm = false
	}
	p.mu.Unlock()
	if used || confirmed {
		p.Cut()
	}
}

// cutAfter closes the connections after n more bytes from the broker.
func (p *proxy) cutAfter(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.budget = n
}

// cutConfirm closes the connections when the broker next sends a confirm; the confirm is lost.
func (p *proxy) cutConfirm() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.confirm = true
}

// stall holds back the broker's bytes, like a network that drops packets.
func (p *proxy) stall() {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.gate:
		p.gate = make(chan struct{})
	default: // the gate is closed already
	}
}

func (p *proxy) resume() {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.gate:
	default:
		close(p.gate)
	}
}
