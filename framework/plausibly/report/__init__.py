"""The report: one HTML file that says whether prediction sets can be trusted, and where not."""
