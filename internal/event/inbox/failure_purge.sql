DELETE FROM consumer_failure WHERE failed_at < $1
