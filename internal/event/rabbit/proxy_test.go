package rabbit

import (
	"bytes"
	"io"
	"net"
	"net/url"
	"sync"
	"testing"
)

// proxy forwards between a test and the broker and can simulate network failures.
type proxy struct {
	target string
	ln     net.Listener
	pumps  sync.WaitGroup

	mu       sync.Mutex
	links    map[*pair]bool
	accepted int
	refuse   bool
	budget   int           // bytes from the broker until the next cut; negative is no limit
	confirm  bool          // the next confirm is cut off
	gate     chan struct{} // closed while bytes from the broker flow
}

type pair struct{ client, broker net.Conn }

func (p *pair) close() {
	_ = p.client.Close()
	_ = p.broker.Close()
}

// newProxy returns a proxy and the broker's URL through it.
func newProxy(t testing.TB, address string) (*proxy, string) {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{target: u.Host, ln: ln, links: map[*pair]bool{}, budget: -1, gate: make(chan struct{})}
	close(p.gate)
	p.pumps.Go(p.serve)
	t.Cleanup(func() {
		_ = ln.Close()
		p.resume()
		p.cut()
		p.pumps.Wait()
	})
	u.Host = ln.Addr().String()
	return p, u.String()
}

func (p *proxy) serve() {
	for {
		client, err := p.ln.Accept()
		if err != nil {
			return
		}
		broker, err := net.Dial("tcp", p.target)
		if err != nil {
			_ = client.Close()
			continue
		}
		p.mu.Lock()
		l := &pair{client, broker}
		if p.refuse {
			l.close()
		} else {
			p.accepted++
			p.links[l] = true
			p.pumps.Go(func() { p.pump(l, broker, client, func([]byte) {}) })
			p.pumps.Go(func() { p.pump(l, client, broker, p.meter) })
		}
		p.mu.Unlock()
	}
}

// pump copies one direction until either side ends; then it ends both.
func (p *proxy) pump(l *pair, to io.Writer, from io.Reader, before func(b []byte)) {
	buf := make([]byte, 512)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			before(buf[:n])
			_, err = to.Write(buf[:n])
		}
		if err != nil {
			break
		}
	}
	l.close()
	p.mu.Lock()
	delete(p.links, l)
	p.mu.Unlock()
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
		p.cut()
	}
}

// cut closes all connections; new ones are accepted.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.links {
		l.close()
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

// down closes all connections and, until it is called with false, refuses new ones.
func (p *proxy) down(yes bool) {
	p.mu.Lock()
	p.refuse = yes
	p.mu.Unlock()
	if yes {
		p.cut()
	}
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

// say injects bytes into the broker's stream on every connection; between two frames they are a frame.
func (p *proxy) say(frame []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.links {
		_, _ = l.client.Write(frame)
	}
}

func (p *proxy) connections() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.accepted
}
