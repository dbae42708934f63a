package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"comanda/internal/app"
	"comanda/internal/bench"
	"comanda/internal/keyspace"
)

func (c *cli) bench() *cobra.Command {
	var seconds float64
	var conns []int
	cmd := &cobra.Command{
		Use: "bench", Short: "Measure the server and the raw limits of this machine", Args: cobra.NoArgs,
		Long: "Starts a separate server without rate limits and measures it over HTTP: orders, refusals, menus, memory. In the\n" +
			"same run it measures the raw limits of the machine. By default it works in a temporary folder, which it\n" +
			"removes; with COMANDA_DATABASE_URL=postgres://... it creates a separate database on that server, and drops\n" +
			"it; with COMANDA_REDIS_URL it uses a separate namespace.",
		RunE: c.withConfig(func(cmd *cobra.Command, config app.Config) (result, error) {
			r, err := runBench(cmd, config, bench.Config{Duration: time.Duration(seconds * float64(time.Second)), Conns: conns})
			return result{value: r, text: r.Text}, err
		}),
	}
	cmd.Flags().Float64Var(&seconds, "seconds", 5, "length of each measurement; a run takes about a minute per second")
	cmd.Flags().IntSliceVar(&conns, "conns", []int{64, 128, 256, 512}, "numbers of concurrent connections")
	cmd.AddCommand(benchEcho())
	return cmd
}

// runBench measures a server of its own in temporary stores, never the configured database.
func runBench(cmd *cobra.Command, config app.Config, b bench.Config) (report bench.Report, err error) {
	ctx := cmd.Context()
	ground, err := newBenchGround(ctx, config)
	if err != nil {
		return report, err
	}
	defer ground.remove()
	tokens, err := ground.seed(ctx)
	if err != nil {
		return report, err
	}
	if b.Members, err = ground.members(ctx); err != nil {
		return report, err
	}
	server, err := startChild(ctx, ground.env(), ground.log(), "serve")
	if err != nil {
		return report, err
	}
	defer server.stop()
	// The echo server is the limit of HTTP on this machine: the report compares the server with it.
	echo, err := startChild(ctx, nil, ground.log(), "bench", "echo")
	if err != nil {
		return report, err
	}
	defer echo.stop()
	b.Target, b.PID, b.Tokens, b.Echo = server.base, server.pid(), tokens, echo.base
	b.VNPay, b.ServiceToken = ground.site, ground.token
	b.DatabaseURL, b.RedisURL = ground.database, config.RedisURL
	if b.Namespace, err = keyspace.ParseNamespace(ground.namespace); err != nil {
		return report, err
	}
	b.Progress = progress(cmd.ErrOrStderr())
	report, err = bench.Run(ctx, b)
	server.stop() // must precede the removal of its keys
	if cleared := bench.Clear(ctx, b); err == nil {
		err = cleared
	}
	return report, err
}

// progress shows the progress of a long run, on a terminal only.
func progress(w io.Writer) func(step, steps int, name string) {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	const width = 24
	return func(step, steps int, name string) {
		done := width * step / steps
		fmt.Fprintf(w, "\r\x1b[K[%-*s] %s", width, "########################"[:done], name)
		if step == steps {
			fmt.Fprintln(w)
		}
	}
}

// benchEcho runs the echo handler in its own process, like the server.
func benchEcho() *cobra.Command {
	return &cobra.Command{
		Use: "echo", Short: "Serve the bare handler that bench compares with", Hidden: true, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s := &http.Server{Addr: os.Getenv("COMANDA_LISTEN"), Handler: bench.EchoHandler(), ReadHeaderTimeout: 5 * time.Second}
			stop := context.AfterFunc(cmd.Context(), func() { _ = s.Close() }) // its clients have disconnected by then
			defer stop()
			if err := s.ListenAndServe(); cmd.Context().Err() == nil {
				return fmt.Errorf("echo: %w", err)
			}
			return nil
		},
	}
}
