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

// debugServer serves profiles of the process on a separate loopback address, because profiles reveal internals.
type debugServer struct {
	listen string
	server *http.Server
}

// Start listens and serves in a goroutine.
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
	// Without a limit on writing: a profile is collected for as long as its caller asks.
	d.server = &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = d.server.Serve(l) }() // ends with Stop; nothing depends on its error
	return nil
}

// Stop closes the server and any profile in progress.
func (d *debugServer) Stop(context.Context) error {
	if d.server == nil {
		return nil
	}
	return d.server.Close()
}
