SELECT consumer_name, count(*) FROM dead_event GROUP BY consumer_name ORDER BY consumer_name
