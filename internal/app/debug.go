package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"time"
)

// debugServer serves profiles of the running process on an address of its own, which is loopback: a profile tells what
// a stranger must not know.
type debugServer struct {
	listen string
	server *http.Server
}

// Start listens and serves.
func (d *debugServer) Start(ctx context.Context) error {
	host, _, err := net.SplitHostPort(d.listen)
	if err != nil || !loopback(host) {
		return errors.New("configuration: COMANDA_DEBUG_LISTEN is not a loopback address")
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", d.listen)
	if err != nil {
		return fmt.Errorf("debug: %w", err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	d.server = &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = d.server.Serve(l) }() // ends with Stop; nothing depends on it
	return nil
}

// Stop ends it with whatever is being profiled.
func (d *debugServer) Stop(context.Context) error {
	if d.server == nil {
		return nil
	}
	return d.server.Close()
}
